import type { Argon2Cost, DeriveArgon2 } from '../../src/control/account/argon2id.ts'
import { deriveArgon2 } from '../../src/control/account/argon2id.ts'
import { isAccountError } from '../../src/control/account/accountError.ts'
import type { AccountError } from '../../src/control/account/accountError.ts'
import type {
  Accounts,
  AccountsOptions,
  LoggedIn,
  PendingLogIn,
  SignUpMode,
} from '../../src/control/account/accounts.ts'
import { createAccounts } from '../../src/control/account/createAccounts.ts'
import { createPasswordHasher } from '../../src/control/account/createPasswordHasher.ts'
import { createId } from '../../src/storage/createId.ts'
import type { Change } from '../../src/storage/changes.ts'
import type { Storage } from '../../src/storage/openStorage.ts'

/** A cheap Argon2id cost, for tests that are not about the cost. */
export const cheap: Argon2Cost = { memory: 64, passes: 1, parallelism: 1 }

/** The password of every test account. */
export const password = 'plum tin roof gate'

/** Accounts with a controllable clock and recorded effects. */
export interface AccountFixture {
  readonly accounts: Accounts
  readonly storage: Storage
  /** Milliseconds since 1970; tests change it. */
  readonly clock: { now: number }
  readonly mode: { signUp: SignUpMode }
  readonly changes: Change[]
  /** The cost of each computed hash. */
  readonly hashes: Argon2Cost[]
  /** Signs up with a new email address, from a new IP address. */
  signUp(): Promise<LoggedIn & { email: string }>
}

/** Creates a unique email address. */
export const newEmail = (): string => `${createId('usr')}@example.org`

/** Creates a unique IPv4 address. */
export const newIp = (): string => {
  ipCount += 1
  return `10.${(ipCount >> 16) & 255}.${(ipCount >> 8) & 255}.${ipCount & 255}`
}
let ipCount = 0

/** Returns a result, or throws if it is an error, `undefined`, or a log-in that needs a second factor. */
export const expectOk = <T>(result: T): Exclude<T, AccountError | PendingLogIn | undefined> => {
  const isPending = typeof result === 'object' && result !== null && 'pending' in result
  if (result === undefined || isPending || isAccountError(result))
    throw new Error(`rejected: ${JSON.stringify(result)}`)
  return result as Exclude<T, AccountError | PendingLogIn | undefined>
}

/** Creates accounts on a storage. */
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
    onChange: (changed) => changes.push(...changed),
    passwords: createPasswordHasher({ cost: cheap, derive }),
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
      const email = newEmail()
      return { ...expectOk(await accounts.signUp({ email, password, ip: newIp() })), email }
    },
  }
}
