/** The listeners to one kind of event. */
export interface Listeners<Event extends readonly unknown[]> {
  /** @returns A function that removes the listener. */
  readonly add: (listener: (...event: Event) => void) => () => void
  readonly emit: (...event: Event) => void
  readonly size: () => number
  /** Removes all listeners. */
  readonly clear: () => void
}

/**
 * Creates a list of listeners.
 * @param options.onFirst - Called when there is a listener after there was none.
 * @param options.onNone - Called when the last listener was removed.
 */
export const createListeners = <Event extends readonly unknown[]>({
  onFirst,
  onNone,
}: {
  readonly onFirst: () => void
  readonly onNone: () => void
}): Listeners<Event> => {
  // Each entry is an object of its own, because the same function may be added twice.
  const entries = new Set<{ readonly listener: (...event: Event) => void }>()
  return {
    add: (listener) => {
      const entry = { listener }
      entries.add(entry)
      if (entries.size === 1) onFirst()
      return () => {
        if (entries.delete(entry) && entries.size === 0) onNone()
      }
    },
    emit: (...event) => {
      for (const { listener } of entries) listener(...event)
    },
    size: () => entries.size,
    clear: () => {
      if (entries.size === 0) return
      entries.clear()
      onNone()
    },
  }
}
