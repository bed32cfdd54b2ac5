/** A time as the API writes it. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()

/** The same of one that may not be there. */
export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
