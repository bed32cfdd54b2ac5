/** Whether an origin is a developer's own machine, whose pages nobody else opens. */
export const isLocalOrigin = (origin: string): boolean =>
  /^https?:\/\/(?:localhost|[\w-]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(origin)
