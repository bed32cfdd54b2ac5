import { getConfirmedUntil, getSessionExpiry, lacksSecondFactor } from '../account/startSession.ts'
import type { ControlConfig } from '../controlOptions.ts'
import type { Viewer } from '../account/viewer.ts'
import type { Account } from '../account/account.ts'
import { toPersonalAccount } from '../account/actingAccount.ts'
import type { ActingAccount } from '../account/actingAccount.ts'
import type { AccountView, ActingAccountView, SessionView } from '../contract/controlApi.d.ts'
import { accountView } from '../contract/account.ts'
import { actingAccountView } from '../contract/team.ts'
import { roleScopes } from '../roles.ts'
import { createView } from './createView.ts'
import { isoTime } from './times.ts'

const toAccount = createView(accountView)
const toActingAccount = createView(actingAccountView)

/** Converts the account that a request acts for to its API form. */
export const toActingAccountView = (account: ActingAccount): ActingAccountView => ({
  ...toActingAccount(account),
  scopes: roleScopes[account.role],
})

/** Converts an account to the form that its owner sees. */
export const toAccountView = (account: Account): AccountView => ({
  ...toAccount(account),
  emailVerified: account.emailVerifiedAt !== null,
})

/** Converts a viewer to its API form. @param account - That the request acts for. @default the personal one */
export const toSessionView = (
  { user, session, scopes }: Viewer,
  config: Pick<ControlConfig, 'requireSecondFactor'>,
  account: ActingAccount = toPersonalAccount(user),
): SessionView => ({
  account: toAccountView(user),
  secondFactorMissing: lacksSecondFactor(user, { ...config, ...account }),
  session:
    session === undefined
      ? null
      : {
          createdAt: isoTime(session.createdAt),
          expiresAt: isoTime(getSessionExpiry(session)),
          confirmedUntil: isoTime(Math.max(session.createdAt, getConfirmedUntil({ user, session }))),
        },
  scopes: scopes ?? null,
  actingFor: toActingAccountView(account),
})
