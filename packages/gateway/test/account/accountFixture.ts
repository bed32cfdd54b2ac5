import type { Argon2Cost, DeriveArgon2 } from '../../src/control/account/argon2id.ts'
import { deriveArgon2 } from '../../src/control/account/argon2id.ts'
import { isAccountError } from '../../src/control/account/accountError.ts'
import type { AccountError } from '../../src/control/account/accountError.ts'
import type { Accounts, AccountsOptions, LoggedIn, SignUpMode } from '../../src/control/account/accounts.ts'
import { createAccounts } from '../../src/control/account/createAccounts.ts'
import { createPasswords } from '../../src/control/account/createPasswords.ts'
import { createId } from '../../src/storage/createId.ts'
import type { Change } from '../../src/storage/changes.ts'
import type { Storage } from '../../src/storage/openStorage.ts'

/** Argon2id that takes no time, where a test is not about its cost. */
export const cheap: Argon2Cost = { memory: 64, passes: 1, parallelism: 1 }

/** A right password of every account here. */
export const password = 'plum tin roof gate'

/** Accounts with a clock that a test moves, and with what they did. */
export interface AccountFixture {
  readonly accounts: Accounts
  readonly storage: Storage
  /** Milliseconds since 1970; to be changed. */
  readonly clock: { now: number }
  readonly mode: { signUp: SignUpMode }
  readonly changes: Change[]
  /** How often a hash was made, by what it cost. */
  readonly hashes: Argon2Cost[]
  /** Signs up with a new email address, from a new IP address. */
  signUp(): Promise<LoggedIn & { email: string }>
}

/** A email address that nobody else has. */
export const newMail = (): string => `${createId('usr')}@example.org`

/** An IPv4 address that nobody else here has. */
export const newIp = (): string => {
  ipCount += 1
  return `10.${(ipCount >> 16) & 255}.${(ipCount >> 8) & 255}.${ipCount & 255}`
}
let ipCount = 0

/** Narrows a result to what is no rejection. */
export const passed = <T>(result: T): Exclude<T, AccountError | undefined> => {
  if (result === undefined || isAccountError(result)) throw new Error(`rejected: ${JSON.stringify(result)}`)
  return result as Exclude<T, AccountError | undefined>
}

/** Makes accounts on a storage. */
export const createFixture = (storage: Storage, options: Partial<AccountsOptions> = {}): AccountFixture => {
  const clock = { now: Date.UTC(2026, 10, 21) }
  const mode: { signUp: SignUpMode } = { signUp: 'open' }
  const changes: Change[] = []
  const hashes: Argon2Cost[] = []
  const derive: DeriveArgon2 = (work) => {
    hashes.push(work.cost)
    return deriveArgon2(work)
  }
  const accounts = createAccounts({
    storage,
    signUp: () => mode.signUp,
    now: () => clock.now,
    onChange: (told) => changes.push(...told),
    passwords: createPasswords({ cost: cheap, derive }),
    ...options,
  })
  return {
    accounts,
    storage,
    clock,
    mode,
    changes,
    hashes,
    signUp: async () => {
      const email = newMail()
      return { ...passed(await accounts.signUp({ email, password, ip: newIp() })), email }
    },
  }
}
