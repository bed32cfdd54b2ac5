import { createFairLimiter } from '../../lib/createFairLimiter.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import { toIpBlock } from '../../lib/ip/toIpBlock.ts'
import { toNetworkBlock } from '../../lib/ip/toNetworkBlock.ts'
import { hashArgon2, isWeakArgon2, verifyArgon2 } from './argon2id.ts'
import type { Argon2Cost, DeriveArgon2 } from './argon2id.ts'

/**
 * Hashes passwords with limited concurrency. `'busy'`: the queue is full and nothing was computed. `ip` is the IP address of the caller:
 * networks (an IPv4 /24, an IPv6 /48) take turns, and so do the addresses (an IPv6 /64) of a network.
 */
export interface PasswordHasher {
  /** @returns The hash as PHC text. */
  hash(password: string, ip?: string): Promise<{ readonly phc: string } | 'busy'>
  /**
   * Always computes one hash, so that timing does not disclose whether the account exists.
   * @param stored - PHC text; `undefined` if there is no such account.
   */
  verify(stored: string | undefined, password: string, ip?: string): Promise<boolean | 'busy'>
  /** Call it after a log-in: half of the hashes are for networks that have logged in, if they need them. */
  remember(ip: string): void
  /** Whether a password should be hashed again, because its hash is weaker than new ones. */
  isWeak(stored: string): boolean
}

/** The options of `createPasswordHasher`. */
export interface PasswordHasherOptions {
  /** Concurrent hashes. Each uses 19 MiB and a core for about 50 ms. @default 2 */
  readonly maxConcurrent?: number | undefined
  /** Hashes that may wait in the queue, for networks that have logged in, and as many for others. @default 20 */
  readonly maxQueued?: number | undefined
  /** @default 19456 KiB, 2 passes, parallelism 1 */
  readonly cost?: Argon2Cost | undefined
  /** Computes the hashes. @default argon2id of `node:crypto` */
  readonly derive?: DeriveArgon2 | undefined
}

/** Networks that are remembered. Those that logged in last stay. */
const maxKnown = 20_000

/**
 * Creates a password hasher. Create one per process. Passwords are normalized (NFKC), so that they match from every keyboard.
 * @example
 * const passwords = createPasswordHasher()
 */
export const createPasswordHasher = ({
  maxConcurrent = 2,
  maxQueued = 20,
  cost,
  derive,
}: PasswordHasherOptions = {}): PasswordHasher => {
  const options = { ...(cost === undefined ? {} : { cost }), ...(derive === undefined ? {} : { derive }) }
  const limiter = createFairLimiter({ maxRunning: maxConcurrent, maxQueued })
  const known = createRecentMap<true>(maxKnown)
  const toNetwork = (ip: string): string => toNetworkBlock(ip) ?? 'other'
  const runQueued = async <T>(ip: string, work: () => Promise<T>): Promise<T | 'busy'> => {
    const network = toNetwork(ip)
    const result = await limiter.run({ network, caller: toIpBlock(ip), isKnown: known.get(network) === true }, work)
    return result === 'full' ? 'busy' : result
  }

  return {
    hash: (password, ip = '') =>
      runQueued(ip, async () => ({ phc: await hashArgon2(password.normalize('NFKC'), options) })),
    verify: (stored, password, ip = '') =>
      runQueued(ip, () => verifyArgon2(stored, password.normalize('NFKC'), options)),
    remember: (ip) => known.set(toNetwork(ip), true),
    isWeak: (stored) => isWeakArgon2(stored, cost),
  }
}
