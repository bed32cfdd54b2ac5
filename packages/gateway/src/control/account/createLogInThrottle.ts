import type { Clock } from '../../lib/clock.ts'
import { toEmailIdentity } from '../../storage/emailIdentity.ts'
import { createThrottle } from './createThrottle.ts'
import type { Throttle } from './createThrottle.ts'
import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { hashSecret } from './secretText.ts'

/** One attempt to log in. */
export interface LogInAttempt {
  /** How long to wait before the next attempt; 0 if this one is allowed. */
  readonly retryAfterMs: number
  /** Call it if the attempt did not fail. It then does not count as a failure. */
  succeeded(): void
}

/** Limits password guessing. */
export interface LogInThrottle {
  take(request: { email: string; ip: string }): LogInAttempt
}

const second = 1_000
const minute = 60 * second

/**
 * Creates a log-in throttle. It limits each client (an IPv4 address, or a /64 of IPv6) that fails at one account or at many. While an
 * account is under a distributed attack, each client gets one attempt at it in five minutes. Failures of other clients never lock the
 * owner out: a client that has not failed itself can always try. The state is in memory, bounded, and decays with time.
 * @param options.now - A monotonic clock in milliseconds.
 */
export const createLogInThrottle = ({ now, maxKeys }: { now: Clock; maxKeys?: number }): LogInThrottle => {
  const throttle = (burst: number, intervalMs: number): Throttle => createThrottle({ burst, intervalMs, maxKeys, now })
  const callerFailures = throttle(30, 6 * second)
  const accountFailures = throttle(50, 30 * second)
  const pairFailures = throttle(5, minute)
  const pairAttemptsUnderAttack = throttle(1, 5 * minute)
  // Hashing is expensive for the server even if the password is right.
  const callerAttempts = throttle(60, second)

  return {
    take: ({ email, ip }) => {
      const caller = toIpBlock(ip)
      // Hashed, so that long input does not use more memory.
      const account = hashSecret(toEmailIdentity(email) ?? email).slice(0, 32)
      const pair = `${account} ${caller}`
      const underAttack = accountFailures.waitMs(account) > 0
      const retryAfterMs = Math.max(
        callerAttempts.waitMs(caller),
        callerFailures.waitMs(caller),
        pairFailures.waitMs(pair),
        underAttack ? pairAttemptsUnderAttack.waitMs(pair) : 0,
      )
      if (retryAfterMs > 0) return { retryAfterMs, succeeded: () => {} }
      // Counted before the result is known. Otherwise concurrent attempts would all pass.
      callerAttempts.record(caller)
      const undoFailures = [
        callerFailures.record(caller),
        accountFailures.record(account),
        pairFailures.record(pair),
        pairAttemptsUnderAttack.record(pair),
      ]
      return {
        retryAfterMs: 0,
        succeeded: () => {
          for (const undo of undoFailures) undo()
        },
      }
    },
  }
}
