import { randomBytes } from 'node:crypto'
import { isAccountError } from '../../src/control/account/accountError.ts'
import type { AccountError } from '../../src/control/account/accountError.ts'
import type { AccountsOptions, LoggedIn, PendingLogIn } from '../../src/control/account/accounts.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { createFixture, expectOk } from './accountFixture.ts'
import type { AccountFixture } from './accountFixture.ts'
import { createTestFactor } from './factorKinds.ts'
import type { FactorKind, TestFactor } from './factorKinds.ts'

const site = 'https://node.example'
const secrets = [createServerSecret(randomBytes(32).toString('hex'))]
/** By user id, so that several instances on one database share them. */
const factors = new Map<string, TestFactor>()

/**
 * Creates accounts that all have a factor: each sign-up adds one, and each log-in proves it. So a test whose steps are written for a password runs
 * with factors too.
 */
export const createFactorFixture = (
  kind: FactorKind,
  storage: Storage,
  { mailer, ...options }: Partial<AccountsOptions> = {},
): AccountFixture => {
  const fixture = createFixture(storage, {
    secrets,
    ...options,
    // Without emails about the factors.
    ...(mailer && {
      mailer: { ...mailer, enqueue: (about, ...rest) => about === 'secondFactor' || mailer.enqueue(about, ...rest) },
    }),
  })
  if (kind === 'no factor') return fixture
  const { accounts, clock } = fixture

  const complete = async (
    result: LoggedIn | PendingLogIn | AccountError,
    { ip, current }: { ip: string; current?: string | undefined },
  ): Promise<LoggedIn | AccountError> => {
    if (isAccountError(result)) return result
    if ('pending' in result) {
      const { pending } = result
      const passkey = await accounts.getLogInOptions({ pending, site })
      if (isAccountError(passkey)) return passkey
      const proof = factors.get(pending.slice(0, pending.indexOf('.')))?.prove(passkey) ?? {}
      return accounts.finishLogIn({ pending, proof, current, site, ip })
    }
    const { viewer } = result
    if (viewer.user.hasSecondFactor) return result
    const factor = createTestFactor(kind, { site, clock })
    factors.set(viewer.user.id, factor)
    const added = factor.add(expectOk(await accounts.getNewFactorOptions({ viewer, site })))
    const { newSession } = expectOk(await accounts.addFactor({ ...added, viewer, label: 'Test', site, ip }))
    return expectOk(newSession ?? undefined)
  }
  // One at a time: a code must be sent before the clock advances to the next one.
  let last: Promise<unknown> = Promise.resolve()
  const then = async (
    started: Promise<LoggedIn | PendingLogIn | AccountError>,
    request: { ip: string; current?: string | undefined },
  ): Promise<LoggedIn | AccountError> => {
    const result = await started
    const completed = last.then(() => complete(result, request))
    last = completed.catch(() => {})
    return completed
  }
  return {
    ...fixture,
    accounts: {
      ...accounts,
      signUp: (request) => then(accounts.signUp(request), request),
      logIn: (request) => then(accounts.logIn(request), request),
      logInWithLink: (request) => then(accounts.logInWithLink(request), request),
      finishSingleSignOn: (request) => then(accounts.finishSingleSignOn(request), request),
      resetPassword: (request) => then(accounts.resetPassword(request), request),
    },
    signUp: async () => {
      const { email, ...started } = await fixture.signUp()
      return { email, ...expectOk(await then(Promise.resolve(started), { ip: started.viewer.session?.ip ?? '' })) }
    },
  }
}
