/** A wait that can be ended early. */
export interface DrainDelay {
  /** @param ms - In milliseconds. */
  readonly wait: (ms: number) => Promise<void>
  /** Ends the wait. @returns Whether there was one. */
  readonly skip: () => boolean
}

/** Creates the wait between reporting 503 at `/readyz` and the end of listening. */
export const createDrainDelay = (): DrainDelay => {
  let end: (() => void) | undefined
  return {
    wait: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => end?.(), ms)
        end = () => {
          end = undefined
          clearTimeout(timer)
          resolve()
        }
      }),
    skip: () => {
      const waited = end !== undefined
      end?.()
      return waited
    },
  }
}
