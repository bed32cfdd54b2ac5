import { createLimiter } from '../../lib/createLimiter.ts'
import { hashArgon2, isWeakArgon2, verifyArgon2 } from './argon2id.ts'
import type { Argon2Cost, DeriveArgon2 } from './argon2id.ts'

/** Hashes passwords, few at a time. `'busy'`: too many wait already, and nothing was done. */
export interface Passwords {
  /** @returns The hash as PHC text. */
  hash(password: string): Promise<{ readonly phc: string } | 'busy'>
  /**
   * Does the work of one hash whatever it was given.
   * @param stored - PHC text; `undefined` where there is no such account.
   */
  verify(stored: string | undefined, password: string): Promise<boolean | 'busy'>
  /** Whether a right password should be hashed anew, as its hash costs less than one costs today. */
  isWeak(stored: string): boolean
}

/** What the hashing is made of. */
export interface PasswordsOptions {
  /** Hashes at once. Each takes 19 MiB and a core for some 50 ms. @default 2 */
  readonly maxAtOnce?: number | undefined
  /** Hashes that wait; one more is rejected. @default 20 */
  readonly maxWaiting?: number | undefined
  /** @default 19456 KiB, 2 passes, 1 lane */
  readonly cost?: Argon2Cost | undefined
  /** What does the work. @default argon2id of `node:crypto` */
  readonly derive?: DeriveArgon2 | undefined
}

/**
 * Makes the hashing of passwords: make one for a whole process. A password is normalised (NFKC), so that it is the same from every keyboard.
 * @example
 * const passwords = createPasswords()
 */
export const createPasswords = ({ maxAtOnce = 2, maxWaiting = 20, cost, derive }: PasswordsOptions = {}): Passwords => {
  const limiter = createLimiter({ maxRunning: maxAtOnce, maxQueued: maxWaiting })
  const options = { ...(cost === undefined ? {} : { cost }), ...(derive === undefined ? {} : { derive }) }

  const limit = async <T>(work: () => Promise<T>): Promise<T | 'busy'> => {
    const result = await limiter.run(work)
    return result === 'full' ? 'busy' : result
  }

  return {
    hash: (password) => limit(async () => ({ phc: await hashArgon2(password.normalize('NFKC'), options) })),
    verify: (stored, password) => limit(() => verifyArgon2(stored, password.normalize('NFKC'), options)),
    isWeak: (stored) => isWeakArgon2(stored, cost),
  }
}
