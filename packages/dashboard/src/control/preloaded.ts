/** How long reads take what was preloaded, in milliseconds. */
const earlyMs = 5_000

let endsAt = 0

/** Lets the first reads take the responses that the `Link` header of the page has preloaded. Call it when the page opens. */
export function takePreloads(now: number = performance.now()): void {
  endsAt = now + earlyMs
}

/** Ends it: after a change, or without a session, what was preloaded is out of date. */
export function endPreloads(): void {
  endsAt = 0
}

/**
 * The URL of a read. While the page opens it is that of the preload, whose query ends with an empty parameter: later reads have another URL, because
 * browsers would take a preload that nobody used, however old it is.
 */
export function toReadUrl(path: string, now: number = performance.now()): string {
  if (now >= endsAt) return path
  return `${path}${path.includes('?') ? '&' : '?'}`
}
