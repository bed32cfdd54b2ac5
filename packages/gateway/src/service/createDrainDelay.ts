/** A delay that can be ended early. */
export interface DrainDelay {
  /** Waits. @param ms - In milliseconds. */
  readonly wait: (ms: number) => Promise<void>
  /** Ends the delay. @returns Whether one was running. */
  readonly skip: () => boolean
}

/** Creates the delay during which `/readyz` responds with 503 and the service still listens. */
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
      const isWaiting = end !== undefined
      end?.()
      return isWaiting
    },
  }
}
