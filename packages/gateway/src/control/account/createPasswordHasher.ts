import { createLimiter } from '../../lib/createLimiter.ts'
import { hashArgon2, isWeakArgon2, verifyArgon2 } from './argon2id.ts'
import type { Argon2Cost, DeriveArgon2 } from './argon2id.ts'

/** Hashes passwords with limited concurrency. `'busy'`: the queue is full and nothing was computed. */
export interface PasswordHasher {
  /** @returns The hash as PHC text. */
  hash(password: string): Promise<{ readonly phc: string } | 'busy'>
  /**
   * Always computes one hash, so that timing does not disclose whether the account exists.
   * @param stored - PHC text; `undefined` if there is no such account.
   */
  verify(stored: string | undefined, password: string): Promise<boolean | 'busy'>
  /** Whether a password should be hashed again, because its hash is weaker than new ones. */
  isWeak(stored: string): boolean
}

/** The options of `createPasswordHasher`. */
export interface PasswordHasherOptions {
  /** Concurrent hashes. Each uses 19 MiB and a core for about 50 ms. @default 2 */
  readonly maxConcurrent?: number | undefined
  /** Hashes that may wait in the queue. @default 20 */
  readonly maxQueued?: number | undefined
  /** @default 19456 KiB, 2 passes, parallelism 1 */
  readonly cost?: Argon2Cost | undefined
  /** Computes the hashes. @default argon2id of `node:crypto` */
  readonly derive?: DeriveArgon2 | undefined
}

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
  const limiter = createLimiter({ maxRunning: maxConcurrent, maxQueued })
  const runQueued = async <T>(work: () => Promise<T>): Promise<T | 'busy'> => {
    const result = await limiter.run(work)
    return result === 'full' ? 'busy' : result
  }

  return {
    hash: (password) => runQueued(async () => ({ phc: await hashArgon2(password.normalize('NFKC'), options) })),
    verify: (stored, password) => runQueued(() => verifyArgon2(stored, password.normalize('NFKC'), options)),
    isWeak: (stored) => isWeakArgon2(stored, cost),
  }
}
