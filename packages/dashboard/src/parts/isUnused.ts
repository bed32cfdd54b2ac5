const safeAfterMs = 2 * 3_600_000
const minuteMs = 60_000

/**
 * Checks that an old key was unused for 2 hours.
 * @param lastUsedAt - The start of the minute of its last use; `null` if there was none; `undefined` if it is not known.
 * @param now - Milliseconds since 1970.
 */
export const isUnused = (lastUsedAt: string | null | undefined, now: number): boolean =>
  lastUsedAt === null || (lastUsedAt !== undefined && now >= Date.parse(lastUsedAt) + minuteMs + safeAfterMs)
