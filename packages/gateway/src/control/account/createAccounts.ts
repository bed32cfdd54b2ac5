import { timingSafeEqual } from 'node:crypto'
import { monotonicClock } from '../../lib/clock.ts'
import { createTokens } from './accessTokens.ts'
import { findActingAccount } from './actingAccount.ts'
import type { Accounts, AccountsOptions } from './accounts.ts'
import { noMailer } from './accountEmails.ts'
import { createFactorChanges } from './factorChanges.ts'
import { createFactorLogIns } from './factorLogIns.ts'
import { createEmailLinks } from './emailLinks.ts'
import { createThrottle } from './createThrottle.ts'
import { createLogInThrottle } from './createLogInThrottle.ts'
import { createOperator } from './createOperator.ts'
import { createPasswordHasher } from './createPasswordHasher.ts'
import { createLogInLinks } from './logInLinks.ts'
import { createLogIns } from './logIns.ts'
import { createOpenSessions } from './openSessions.ts'
import { createPasswordChanges } from './passwordChanges.ts'
import { pruneAccounts } from './pruneAccounts.ts'
import { hashSecret } from './secretText.ts'
import { createSingleSignOn } from './singleSignOn.ts'
import { createTeamFunctions } from './createTeamFunctions.ts'

const minOperatorToken = 32
const minute = 60_000
const day = 1_440 * minute

/**
 * Creates the accounts of a service. Create one instance per process: it holds the log-in throttles in memory.
 * @throws {TypeError} if the operator token is shorter than 32 characters. The message does not contain it.
 * @example
 * declare const storage: Parameters<typeof createAccounts>[0]['storage']
 * const accounts = createAccounts({ storage, signUp: () => 'open' })
 */
export const createAccounts = ({
  storage,
  signUp,
  passwordLogin = () => true,
  oidc,
  minBurst = () => 1,
  maxApps = () => Infinity,
  secrets = [],
  operatorToken,
  now: givenNow,
  onChange = () => {},
  mailer = noMailer,
  passwords = createPasswordHasher(),
  signUpBurst = 20,
  auditDays = 400,
}: AccountsOptions): Accounts => {
  if (operatorToken !== undefined && operatorToken.length < minOperatorToken)
    throw new TypeError(`The operator token must have at least ${minOperatorToken} characters. Generate a random one.`)
  const now = givenNow ?? Date.now
  const monotonic = { now: monotonicClock(givenNow) }
  const operatorHash = operatorToken === undefined ? undefined : Buffer.from(hashSecret(operatorToken))
  const context = { storage, passwords, mailer, signUp, passwordLogin, oidc, minBurst, maxApps, secrets, now, onChange }
  const throttled = {
    ...context,
    logInThrottle: createLogInThrottle(monotonic),
    signUps: createThrottle({ burst: signUpBurst, intervalMs: minute, ...monotonic }),
    emailsByIp: createThrottle({ burst: 10, intervalMs: minute, ...monotonic }),
    emailsByAddress: createThrottle({ burst: 3, intervalMs: 10 * minute, ...monotonic }),
    signOnStarts: createThrottle({ burst: 60, intervalMs: 1_000, ...monotonic }),
    secondSteps: createThrottle({ burst: 60, intervalMs: 1_000, ...monotonic }),
    signOnFailures: createThrottle({ burst: 30, intervalMs: 6_000, ...monotonic }),
    codeTries: createThrottle({ burst: 10, intervalMs: 5 * minute, ...monotonic }),
    codeTriesAtAddress: createThrottle({ burst: 5, intervalMs: minute, ...monotonic }),
    codeWarnings: createThrottle({ burst: 1, intervalMs: day, ...monotonic }),
    confirmations: createThrottle({ burst: 5, intervalMs: minute, ...monotonic }),
    loggedFailures: createThrottle({ burst: 20, intervalMs: minute, ...monotonic }),
    loggedUnknownClients: createThrottle({ burst: 100, intervalMs: 1_000, maxKeys: 2, ...monotonic }),
    auditMs: auditDays * day,
  }
  const logIns = createLogIns(throttled)
  return {
    ...logIns,
    ...createLogInLinks(context),
    ...createOpenSessions(context),
    ...createSingleSignOn({ ...throttled, authenticate: logIns.authenticate }),
    ...createPasswordChanges(throttled),
    ...createEmailLinks(throttled),
    ...createFactorLogIns(throttled),
    ...createFactorChanges(throttled),
    ...createTokens(context),
    findActingAccount: (viewer, accountId) => findActingAccount(storage, viewer, accountId),
    teams: createTeamFunctions(throttled),
    isOperatorToken: (text) =>
      operatorHash !== undefined && timingSafeEqual(Buffer.from(hashSecret(text)), operatorHash),
    prune: (stopped = () => false) => pruneAccounts({ storage, now: now(), auditMs: throttled.auditMs }, stopped),
    operator: createOperator(context),
  }
}
