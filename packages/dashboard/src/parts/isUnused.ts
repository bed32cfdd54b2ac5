const safeAfterMs = 2 * 3_600_000
const minuteMs = 60_000

/**
 * Checks that an old key was unused for 2 hours since the rotation.
 * @param options.lastUsedAt - The start of the minute of its last use; `null` if there was none; `undefined` if it is not known.
 * @param options.now - Milliseconds since 1970.
 */
export const isUnused = ({
  lastUsedAt,
  rotatedAt,
  now,
}: {
  readonly lastUsedAt: string | null | undefined
  readonly rotatedAt: string | null
  readonly now: number
}): boolean =>
  lastUsedAt !== undefined &&
  [lastUsedAt, rotatedAt].every((time) => time === null || now >= Date.parse(time) + minuteMs + safeAfterMs)
