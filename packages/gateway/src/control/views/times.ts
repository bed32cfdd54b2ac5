/** Formats a time as ISO 8601 in UTC. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()

/** Formats a time that may be `null`. */
export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
