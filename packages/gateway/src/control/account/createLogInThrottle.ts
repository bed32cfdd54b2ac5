import type { Clock } from '../../lib/clock.ts'
import { foldText } from '../../storage/foldText.ts'
import { createThrottle } from './createThrottle.ts'
import type { Throttle } from './createThrottle.ts'
import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { hashSecret } from './secretText.ts'

/** One try to log in. */
export interface LogInTry {
  /** How long to wait for a try; 0 where this one may be made. */
  readonly retryAfterMs: number
  /** To be called where the try was no failure: then it costs nothing more. */
  succeeded(): void
}

/** Slows who guesses passwords. */
export interface LogInThrottle {
  take(request: { email: string; ip: string }): LogInTry
}

const second = 1_000
const minute = 60 * second

/**
 * Makes the throttle of log-ins. It slows a caller (an IPv4 address, or a /64 of IPv6) that fails at one account, or at many; and while an
 * account is being guessed at from all over, each caller has one try at it in five minutes. No number of failures of others keeps the
 * owner out, from an address that did not fail itself. All of it is in memory, of bounded size, and is forgotten with time.
 * @param options.now - A monotonic clock in milliseconds.
 */
export const createLogInThrottle = ({ now, maxKeys }: { now: Clock; maxKeys?: number }): LogInThrottle => {
  const debts = (burst: number, intervalMs: number): Throttle => createThrottle({ burst, intervalMs, maxKeys, now })
  const failuresOfCaller = debts(30, 6 * second)
  const failuresAtAccount = debts(50, 30 * second)
  const failuresOfPair = debts(5, minute)
  const triesOfPairUnderAttack = debts(1, 5 * minute)
  // Hashing costs us more than it costs who asks, also with a right password.
  const triesOfCaller = debts(60, second)

  return {
    take: ({ email, ip }) => {
      const caller = toIpBlock(ip)
      // Hashed, as what a caller may make us remember must be short.
      const account = hashSecret(foldText(email)).slice(0, 32)
      const pair = `${account} ${caller}`
      const underAttack = failuresAtAccount.waitMs(account) > 0
      const retryAfterMs = Math.max(
        triesOfCaller.waitMs(caller),
        failuresOfCaller.waitMs(caller),
        failuresOfPair.waitMs(pair),
        underAttack ? triesOfPairUnderAttack.waitMs(pair) : 0,
      )
      if (retryAfterMs > 0) return { retryAfterMs, succeeded: () => {} }
      // Counted before it is known how it ends: many at once must not all pass as the first.
      triesOfCaller.add(caller)
      const takeBack = [
        failuresOfCaller.add(caller),
        failuresAtAccount.add(account),
        failuresOfPair.add(pair),
        triesOfPairUnderAttack.add(pair),
      ]
      return {
        retryAfterMs: 0,
        succeeded: () => {
          for (const undo of takeBack) undo()
        },
      }
    },
  }
}
