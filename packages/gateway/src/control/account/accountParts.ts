import type { AuditEntry } from '../../storage/auditLog.ts'
import type { ServerSecret } from '../../lib/secrets/serverSecret.ts'
import type { Change } from '../../storage/changes.ts'
import type { Storage } from '../../storage/openStorage.ts'
import type { Repositories } from '../../storage/repositories.ts'
import type { User } from '../../storage/users.ts'
import type { SignUpMode } from './accounts.ts'
import type { Account } from './account.ts'
import type { Throttle } from './createThrottle.ts'
import type { LogInThrottle } from './createLogInThrottle.ts'
import type { Passwords } from './createPasswords.ts'

/** What the functions of the accounts share. */
export interface AccountParts {
  readonly storage: Storage
  readonly passwords: Passwords
  readonly signUp: () => SignUpMode
  /** The newest first. Email addresses of deleted accounts are hashed under it. */
  readonly secrets: readonly ServerSecret[]
  readonly now: () => number
  readonly onChange: (changes: readonly Change[]) => void
}

/** The same with what slows those who try things out. */
export interface GuardedParts extends AccountParts {
  readonly logInThrottle: LogInThrottle
  /** Of callers by block of addresses: accounts made, and passwords set by links. */
  readonly signUps: Throttle
  /** Of sessions by hash: passwords asked for again. */
  readonly confirmations: Throttle
  /** Failures that go into the audit log: of an account by its id, so that those at others leave them room. */
  readonly loggedFailures: Throttle
  /** The same at email addresses that nobody has, all together. */
  readonly loggedUnknownClients: Throttle
  /** How long the audit log is kept. */
  readonly auditMs: number
}

/** The account without the hash of its password. */
export const toAccount = ({ id, email, state, role, limits, createdAt }: User): Account => ({
  id,
  email,
  state,
  role,
  limits,
  createdAt,
})

/** Adds to the audit log. */
export const audit = (
  { auditLog }: Pick<Repositories, 'auditLog'>,
  {
    subject = null,
    ip,
    detail = null,
    ...entry
  }: Pick<AuditEntry, 'at' | 'userId' | 'actor' | 'action'> & {
    subject?: string | null
    ip?: string | undefined
    detail?: AuditEntry['detail']
  },
): Promise<void> => auditLog.add({ ...entry, subject, ip: ip ?? null, detail })
