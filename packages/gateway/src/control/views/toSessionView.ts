import { getConfirmedUntil, lacksSecondFactor, sessionTimes } from '../account/startSession.ts'
import type { ControlConfig } from '../controlOptions.ts'
import type { Viewer } from '../account/accounts.ts'
import type { Account } from '../account/account.ts'
import type { AccountView, SessionView } from '../contract/controlApi.d.ts'
import { accountView } from '../contract/account.ts'
import { createView } from './createView.ts'
import { isoTime } from './times.ts'

const toAccount = createView(accountView)

/** Converts an account to the form that its owner sees. */
export const toAccountView = (account: Account): AccountView => ({
  ...toAccount(account),
  emailVerified: account.emailVerifiedAt !== null,
})

/** Converts a viewer to its API form. */
export const toSessionView = (
  { user, session, scopes }: Viewer,
  config: Pick<ControlConfig, 'requireSecondFactor'>,
): SessionView => ({
  account: toAccountView(user),
  secondFactorMissing: lacksSecondFactor(user, config),
  session:
    session === undefined
      ? null
      : {
          createdAt: isoTime(session.createdAt),
          expiresAt: isoTime(Math.min(session.seenAt + sessionTimes.idleMs, session.createdAt + sessionTimes.totalMs)),
          confirmedUntil: isoTime(Math.max(session.createdAt, getConfirmedUntil({ user, session }))),
        },
  scopes: scopes ?? null,
})
