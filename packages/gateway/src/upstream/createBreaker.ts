/** Whether an upstream's own recent calls speak against asking it. */
export interface Breaker {
  /** Nothing speaks against it. */
  readonly closed: () => boolean
  /** Whether one call may find out if it works again. Says yes once for each wait. */
  readonly mayTry: () => boolean
  /** Told of an exchange that ended with an answer that can be believed. */
  readonly answered: () => void
  /** Told of one that ended without, and whose call it was. */
  readonly failed: (ownerId: string) => void
  /** Told what was found where it was in doubt: whether a light question of our own was answered. */
  readonly confirm: (works: boolean) => void
}

/** The last calls that are looked at, one bit each. */
const windowBits = 0xf_ffff
const lastFive = 0x1f
/** Of the last 20. */
const failuresToOpen = 10
/** How many of five failures, and of ten, count of one owner's calls: by itself no more than two in five. */
const countedOfFive = 2
const countedOfTen = 4
const firstWaitMs = 1_000
const longestWaitMs = 30_000

const bitsOf = (word: number): number => {
  let count = 0
  for (let rest = word; rest !== 0; rest &= rest - 1) count += 1
  return count
}

/** How many failures there are, of each owner so many at most. */
const countUpTo = (most: number, owners: readonly string[]): number => {
  const counts = new Map<string, number>()
  for (const owner of owners) counts.set(owner, Math.min((counts.get(owner) ?? 0) + 1, most))
  let sum = 0
  for (const count of counts.values()) sum += count
  return sum
}

/**
 * Makes a breaker: it opens on five failures in a row, or on ten among the last twenty calls, and lets one call through after a
 * second, then after two, up to thirty. One good answer closes it.
 *
 * A caller can bring failures about, by calls that are too much for any node. So these open it only where they are of three owners or
 * more, and it waits for longer only where the last two tries to fail were not of one; else it is in doubt, and a question decides that
 * is nobody's.
 * @param options.now - Milliseconds of a clock that never goes back. @default performance.now
 * @param options.onChange - Told when it opens and when it closes.
 * @param options.onDoubt - Told when it is in doubt: `confirm` is to be called. Until then it may be told again.
 */
export const createBreaker = ({
  now = () => performance.now(),
  onChange,
  onDoubt,
}: {
  now?: () => number
  onChange?: (closed: boolean) => void
  onDoubt?: () => void
} = {}): Breaker => {
  let recent = 0
  /** Whose the last failures were, the newest last: at least as many as `recent` holds. */
  let owners: string[] = []
  let open = false
  let waitMs = firstWaitMs
  let tryAt = 0
  /** Whose call it was that last failed while it was open. */
  let triedFor: string | undefined

  const breakNow = (): void => {
    open = true
    triedFor = undefined
    tryAt = now() + waitMs
    onChange?.(false)
  }
  const waitLonger = (): void => {
    waitMs = Math.min(waitMs * 2, longestWaitMs)
    tryAt = now() + waitMs
  }
  return {
    closed: () => !open,
    mayTry: () => {
      if (!open || now() < tryAt) return false
      tryAt = now() + waitMs
      return true
    },
    answered: () => {
      recent = (recent << 1) & windowBits
      if (!open) return
      open = false
      recent = 0
      waitMs = firstWaitMs
      onChange?.(true)
    },
    failed: (ownerId) => {
      recent = ((recent << 1) | 1) & windowBits
      if (open) {
        const another = triedFor !== ownerId
        triedFor = ownerId
        if (another) waitLonger()
        else onDoubt?.()
        return
      }
      const failures = bitsOf(recent)
      owners = [...owners.slice(1 - failures), ownerId].slice(-failures)
      const five = (recent & lastFive) === lastFive
      if (!five && failures < failuresToOpen) return
      const confirmed =
        (five && countUpTo(countedOfFive, owners.slice(-5)) === 5) || countUpTo(countedOfTen, owners) >= failuresToOpen
      if (confirmed) breakNow()
      else onDoubt?.()
    },
    confirm: (works) => {
      if (!works) (open ? waitLonger : breakNow)()
      // What failed was the calls' own doing.
      else if (!open) recent = 0
    },
  }
}
