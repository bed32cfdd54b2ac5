import type { AuditEntry } from '../../storage/auditLog.ts'
import { pickColumns } from '../../storage/columns.ts'
import { accountColumns } from '../../storage/tables.ts'
import type { ServerSecret } from '../../lib/secrets/serverSecret.ts'
import type { Change } from '../../storage/changes.ts'
import type { Storage } from '../../storage/openStorage.ts'
import type { Repositories } from '../../storage/repositories.ts'
import type { User } from '../../storage/users.ts'
import type { AccountMailer } from './accountEmails.ts'
import type { AccountsOptions, SignUpMode } from './accounts.ts'
import type { Account } from './account.ts'
import { isAccountError } from './accountError.ts'
import type { AccountError } from './accountError.ts'
import type { Throttle } from './createThrottle.ts'
import type { LogInThrottle } from './createLogInThrottle.ts'
import type { PasswordHasher } from './createPasswordHasher.ts'

/** The shared dependencies of the account functions. */
export interface AccountContext {
  readonly storage: Storage
  readonly passwords: PasswordHasher
  readonly mailer: AccountMailer
  readonly signUp: () => SignUpMode
  /** Whether users can log in by password. */
  readonly passwordLogin: () => boolean
  /** Single sign-on. */
  readonly oidc: AccountsOptions['oidc']
  /** The smallest burst that a user's limits may have. */
  readonly minBurst: () => number
  /** How many apps a user may have. */
  readonly maxApps: () => number
  /** Newest first. The newest one hashes the email addresses of deleted accounts. */
  readonly secrets: readonly ServerSecret[]
  readonly now: () => number
  readonly onChange: (changes: readonly Change[]) => void
}

/** The same with throttles against guessing. */
export interface ThrottledContext extends AccountContext {
  readonly logInThrottle: LogInThrottle
  /** Sign-ups and password resets, by IP block. */
  readonly signUps: Throttle
  /** Requests for an email, by IP block. Those for an invite to a team also by the id of the user. */
  readonly emailsByIp: Throttle
  /** The same by the hash of the address that gets it. */
  readonly emailsByAddress: Throttle
  /** Log-ins at the provider that are started, and those with a passkey, by IP block. */
  readonly signOnStarts: Throttle
  /** Second steps of log-ins, by account id and IP block. So others at the same address cannot block them. */
  readonly secondSteps: Throttle
  /** Those that fail. */
  readonly signOnFailures: Throttle
  /**
   * Codes of authenticator apps, by account id: more would make guessing worthwhile. An IP block where the user has an open session has a key of its
   * own. Passkeys and recovery codes still work.
   */
  readonly codeTries: Throttle
  /** The same by account id and IP block. */
  readonly codeTriesAtAddress: Throttle
  /** Emails about too many wrong codes, by account id. */
  readonly codeWarnings: Throttle
  /** Password confirmations, by session hash. */
  readonly confirmations: Throttle
  /** Failed log-ins that are added to the audit log, by account id, so that attacks on other accounts do not suppress them. */
  readonly loggedFailures: Throttle
  /** The same for all unknown email addresses together. */
  readonly loggedUnknownClients: Throttle
  /** How long audit log entries are retained. */
  readonly auditMs: number
}

/** Runs a transaction that is rolled back if its work returns an error. */
export const rollBackOnError = async <Result>(
  storage: Storage,
  work: (within: Repositories) => Promise<Result | AccountError>,
): Promise<Result | AccountError> => {
  let rejected: AccountError | undefined
  try {
    return await storage.transaction(async (within) => {
      const result = await work(within)
      if (!isAccountError(result)) return result
      rejected = result
      throw new Error('the work was rejected')
    })
  } catch (error) {
    if (rejected === undefined) throw error
    return rejected
  }
}

/** Converts a stored user to an account, without its password hash. */
export const toAccount = (user: User): Account => ({
  ...pickColumns(accountColumns, user),
  hasPassword: user.password !== '',
})

/** Adds an entry to the audit log. */
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

/** Adds an entry to the audit log about what a user did with their own account. @param entry.subject - @default the account */
export const auditOwn = (
  repositories: Pick<Repositories, 'auditLog'>,
  id: string,
  entry: Omit<Parameters<typeof audit>[1], 'userId' | 'actor'>,
): Promise<void> => audit(repositories, { subject: id, ...entry, userId: id, actor: id })
