import { timingSafeEqual } from 'node:crypto'
import { monotonicClock } from '../../lib/clock.ts'
import { createTokens } from './accessTokens.ts'
import type { Accounts, AccountsOptions } from './accounts.ts'
import { createThrottle } from './createThrottle.ts'
import { createLogInThrottle } from './createLogInThrottle.ts'
import { createOperator } from './createOperator.ts'
import { createPasswords } from './createPasswords.ts'
import { createLogIns } from './logIns.ts'
import { createPasswordChanges } from './passwordChanges.ts'
import { pruneAccounts } from './pruneAccounts.ts'
import { hashSecret } from './secretText.ts'

const minOperatorToken = 32
const minute = 60_000
const day = 1_440 * minute

/**
 * Makes the accounts of a service: make them once for a process, as they remember who tries passwords.
 * @throws {TypeError} where the operator's token is shorter than 32 characters; it is not repeated.
 * @example
 * declare const storage: Parameters<typeof createAccounts>[0]['storage']
 * const accounts = createAccounts({ storage, signUp: () => 'open' })
 */
export const createAccounts = ({
  storage,
  signUp,
  secrets = [],
  operatorToken,
  now: givenNow,
  onChange = () => {},
  passwords = createPasswords(),
  signUpBurst = 20,
  auditDays = 400,
}: AccountsOptions): Accounts => {
  if (operatorToken !== undefined && operatorToken.length < minOperatorToken)
    throw new TypeError(`the operator token must have at least ${minOperatorToken} characters, random`)
  const now = givenNow ?? Date.now
  const monotonic = { now: monotonicClock(givenNow) }
  const operatorHash = operatorToken === undefined ? undefined : Buffer.from(hashSecret(operatorToken))
  const parts = { storage, passwords, signUp, secrets, now, onChange }
  const guarded = {
    ...parts,
    logInThrottle: createLogInThrottle(monotonic),
    signUps: createThrottle({ burst: signUpBurst, intervalMs: minute, ...monotonic }),
    confirmations: createThrottle({ burst: 5, intervalMs: minute, ...monotonic }),
    loggedFailures: createThrottle({ burst: 20, intervalMs: minute, ...monotonic }),
    loggedUnknownClients: createThrottle({ burst: 100, intervalMs: 1_000, maxKeys: 2, ...monotonic }),
    auditMs: auditDays * day,
  }
  return {
    ...createLogIns(guarded),
    ...createPasswordChanges(guarded),
    ...createTokens(parts),
    isOperatorToken: (text) =>
      operatorHash !== undefined && timingSafeEqual(Buffer.from(hashSecret(text)), operatorHash),
    prune: (stopped = () => false) => pruneAccounts({ storage, now: now(), auditMs: guarded.auditMs }, stopped),
    operator: createOperator(parts),
  }
}
