/** Buffers what a subscription of a socket receives until the consumer takes it. */
export interface NotificationQueue<T> {
  /** Adds an item. False if the queue is full: then it takes no more, and ends after the items that it has. */
  readonly push: (item: T) => boolean
  /** Ends the queue with a failure, after the items that it has. */
  readonly fail: (failure: unknown) => void
  /**
   * Removes the oldest item, or waits for the next one.
   * @returns Undefined at the end of a queue that was full.
   * @throws The failure, or the signal's reason.
   */
  readonly take: () => Promise<T | undefined>
}

/**
 * Creates an empty queue for one consumer.
 *
 * @param most - How many items it holds.
 * @param signal - Ends a wait for the next item.
 */
export function createNotificationQueue<T>(most: number, signal: AbortSignal): NotificationQueue<T> {
  const items: T[] = []
  let end: { readonly failure?: unknown } | undefined
  let wake: (() => void) | undefined
  const endWith = (reason: { readonly failure?: unknown }): void => {
    end ??= reason
    wake?.()
  }
  signal.addEventListener('abort', () => wake?.(), { once: true })
  return {
    push: (item) => {
      if (end) return false
      if (items.length >= most) {
        endWith({})
        return false
      }
      items.push(item)
      wake?.()
      return true
    },
    fail: (failure) => endWith({ failure }),
    take: async () => {
      if (items.length === 0 && !end && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        wake = undefined
      }
      if (signal.aborted) throw signal.reason
      if (items.length > 0) return items.shift()
      if (end && 'failure' in end) throw end.failure
      return undefined
    },
  }
}
