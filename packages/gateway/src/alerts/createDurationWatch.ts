/** Knows how long problems have been there, or have been gone, as far as this instance saw them. */
export interface DurationWatch {
  /** Takes all problems that are there now. */
  readonly observe: (keys: readonly string[], now: number) => void
  /** For how long a problem has been there (`true`), or gone (`false`), in milliseconds; 0 if it is not so. */
  readonly getDuration: (key: string, isThere: boolean, now: number) => number
}

/** Creates a watch that has seen nothing. */
export const createDurationWatch = (): DurationWatch => {
  const since = new Map<string, { readonly isThere: boolean; readonly at: number }>()
  return {
    observe: (keys, now) => {
      const there = new Set(keys)
      for (const key of new Set([...keys, ...since.keys()]))
        if (since.get(key)?.isThere !== there.has(key)) since.set(key, { isThere: there.has(key), at: now })
    },
    getDuration: (key, isThere, now) => {
      const known = since.get(key)
      // It may have been gone for long: this instance has just started.
      if (known === undefined && !isThere) since.set(key, { isThere: false, at: now })
      return known?.isThere === isThere ? now - known.at : 0
    },
  }
}
