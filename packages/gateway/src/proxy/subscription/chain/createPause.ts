/** A pause of a loop that events can end. */
export interface Pause {
  /** Waits for milliseconds, or until `wake`. Returns at once if that was called since the last wait. */
  readonly wait: (ms: number) => Promise<void>
  readonly wake: () => void
}

/** Creates a pause. */
export const createPause = (): Pause => {
  let isWoken = false
  let end = (): void => {}
  return {
    wait: (ms) =>
      new Promise((resolve) => {
        // Waiting alone must not keep the process alive.
        const timer = setTimeout(() => end(), isWoken ? 0 : ms).unref()
        end = () => {
          clearTimeout(timer)
          isWoken = false
          end = () => {}
          resolve()
        }
      }),
    wake: () => {
      isWoken = true
      end()
    },
  }
}

/** Waits for milliseconds. It does not keep the process alive. */
export const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
