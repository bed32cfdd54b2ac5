/** Counts what one user of a budget holds. */
export interface HeldBytes {
  /** @throws {Error} if all users would hold too many, or if this one has ended. */
  readonly hold: (bytes: number) => void
  /** Ends it, and gives back what it holds. */
  readonly release: () => void
}

/** Bounds how many bytes all users hold at a time. @returns Adds a user. */
export const createByteBudget = (maxBytes: number): (() => HeldBytes) => {
  let all = 0
  return () => {
    let own = 0
    let hasEnded = false
    return {
      hold: (bytes) => {
        if (hasEnded || all + bytes > maxBytes) throw new Error('too much of the chain store is held at a time')
        all += bytes
        own += bytes
      },
      release: () => {
        hasEnded = true
        all -= own
        own = 0
      },
    }
  }
}
