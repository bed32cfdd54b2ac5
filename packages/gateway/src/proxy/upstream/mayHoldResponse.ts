/** About our own standing at the node, which is no caller's business. */
const aboutUs: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 429])

/** Whether a node's answer with this status may be one to the call: 2xx, and 4xx where it is about the call, as some nodes send an RPC error so. */
export const mayHoldResponse = (status: number): boolean =>
  (status >= 200 && status < 300) || (status >= 400 && status < 500 && !aboutUs.has(status))
