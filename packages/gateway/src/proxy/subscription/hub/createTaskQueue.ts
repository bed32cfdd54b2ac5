/** Work in steps. After each step it yields how many writes it has made since the last one: one for each connection, and one for each 16 kB. */
export type Task = () => Generator<number, void>

/** Runs tasks one after another, in slices. After each, others have the event loop for about as long as a slice takes. */
export interface TaskQueue {
  /** Adds a task. It starts at once unless others wait or run. */
  readonly push: (task: Task) => void
  /** Forgets all tasks, including the rest of the running one. */
  readonly clear: () => void
}

/** When a slice ends, and the next one starts. */
export interface SliceOptions {
  /** @default 2 */
  readonly ms?: number
  /**
   * How many writes it makes. Notifications are written to the sockets at the end of a turn of the event loop, which takes about 10 µs for each
   * connection, and as long for each 16 kB.
   * @default 150
   */
  readonly writes?: number
  /** Schedules the next slice. @default after 2 ms */
  readonly schedule?: (runSlice: () => void) => void
}

const pause = (runSlice: () => void): void => void setTimeout(runSlice, 2)

/** Creates an empty queue. */
export const createTaskQueue = (options: SliceOptions = {}): TaskQueue => {
  const { ms = 2, writes: maxWrites = 150, schedule = pause } = options
  let waiting: Task[] = []
  let running: Generator<number, void> | undefined
  /** Whether a slice runs or is scheduled. */
  let isActive = false

  const runSlice = (): void => {
    const endsAt = performance.now() + ms
    let writes = 0
    while (writes < maxWrites && performance.now() < endsAt) {
      running ??= waiting.shift()?.()
      if (running === undefined) {
        isActive = false
        return
      }
      const current = running
      const { done, value } = current.next()
      if (done !== true) writes += value
      else if (running === current) running = undefined
    }
    schedule(runSlice)
  }
  return {
    push: (task) => {
      waiting.push(task)
      if (isActive) return
      isActive = true
      runSlice()
    },
    clear: () => {
      waiting = []
      running = undefined
    },
  }
}
