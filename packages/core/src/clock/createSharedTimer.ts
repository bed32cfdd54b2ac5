import { startTimer } from './startTimer.ts'
import type { Timer } from './startTimer.ts'

/** One timer that serves many calls and is set again and again. */
export interface SharedTimer {
  /** Sets it, in milliseconds from now. An earlier setting is dropped. */
  readonly set: (ms: number) => void
  readonly clear: () => void
  /**
   * Whether it will fire. False if fake timers were installed or removed since it was set: fake timers that are removed never fire.
   * Set it again then, or everyone who waits for it waits forever.
   */
  readonly isSet: () => boolean
}

/**
 * Creates a timer that is not set.
 *
 * @param run - Called each time it fires. It can be called early, if it was set before fake timers were installed or removed.
 * @param unref - Lets the process exit while it is set. Node only. @default false
 */
export function createSharedTimer(run: () => void, unref = false): SharedTimer {
  let running: Timer | undefined
  // The `setTimeout` that set it. Fake timers can only be cleared by their own function, and real ones too.
  let setWith: typeof setTimeout | undefined
  let clearWith: typeof clearTimeout | undefined
  const isSet = (): boolean => running !== undefined && setWith === setTimeout
  const clear = (): void => {
    if (running !== undefined) clearWith?.(running)
    running = undefined
  }
  return {
    isSet,
    clear,
    set: (ms) => {
      if (isSet()) clear()
      setWith = setTimeout
      clearWith = clearTimeout
      const own = startTimer(() => {
        if (running === own) running = undefined
        run()
      }, ms)
      // Where a test tool replaces timers by those of a browser, they are numbers.
      if (unref) (own as Partial<Timer>).unref?.()
      running = own
    },
  }
}
