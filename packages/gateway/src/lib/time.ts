export const minuteMs = 60_000
export const hourMs: number = 60 * minuteMs
export const dayMs: number = 24 * hourMs

/** Rounds a time down to a multiple of `spanMs`. */
export const floorTo = (at: number, spanMs: number): number => Math.floor(at / spanMs) * spanMs
