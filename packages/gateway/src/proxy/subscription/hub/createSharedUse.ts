/** Something that runs as long as anyone needs it. */
export interface SharedUse {
  /** Starts it, unless it runs. */
  readonly hold: () => void
  /** Stops it if this was the last holder, after the grace period. Call it once for each `hold`. */
  readonly release: () => void
  /** Stops it now, if it runs. */
  readonly close: () => void
}

/**
 * Counts who needs something.
 * @param start - Starts it. Returns a function that stops it.
 * @param graceMs - How long it continues after the last holder, in case there is a new one. 0: it ends at once.
 */
export const createSharedUse = (start: () => () => void, graceMs: number): SharedUse => {
  let holders = 0
  let stop: (() => void) | undefined
  let timer: NodeJS.Timeout | undefined
  const close = (): void => {
    clearTimeout(timer)
    stop?.()
    stop = undefined
  }
  return {
    hold: () => {
      holders += 1
      clearTimeout(timer)
      stop ??= start()
    },
    release: () => {
      holders -= 1
      if (holders > 0) return
      if (graceMs === 0) close()
      else timer = setTimeout(close, graceMs).unref()
    },
    close,
  }
}
