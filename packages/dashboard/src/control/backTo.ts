/** A place in these pages that a link may lead back to. Anything that could be another site's is none. */
export const backTo = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\/(?![/\\])/.test(value) && !/^\/(?:login|signup|reset)\b/.test(value)
    ? value
    : undefined
