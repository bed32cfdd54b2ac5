const dayMs = 86_400_000

/** The start of the UTC day that a time is in. Both in milliseconds since 1970. */
export const startOfUtcDay = (time: number): number => Math.floor(time / dayMs) * dayMs
