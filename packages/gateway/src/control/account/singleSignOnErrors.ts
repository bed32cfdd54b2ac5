import type { OidcFailureKind } from '../../oidc/oidcClient.ts'
import type { AccountError } from './accountError.ts'

const startAgain = 'Start again on the log-in page.'

/** The errors of a log-in at the provider. */
export const singleSignOnErrors = {
  disabled: (): AccountError => ({
    status: 409,
    code: 'single_sign_on_disabled',
    message: 'This service has no single sign-on. Log in with a password.',
  }),
  invalid: (): AccountError => ({
    status: 403,
    code: 'single_sign_on_invalid',
    message: `This log-in was used, has expired, or was started in another browser. ${startAgain}`,
  }),
  emailUnverified: (): AccountError => ({
    status: 403,
    code: 'single_sign_on_email_unverified',
    message:
      'The provider has not verified your email address, so this service cannot use it. Verify the address at the provider, then log in again.',
  }),
  /** Someone may have signed up with an address that is not theirs, so the provider's assertion alone must not open the account. */
  notConnected: (): AccountError => ({
    status: 409,
    code: 'single_sign_on_not_connected',
    message:
      'An account with your email address exists, and the address is not confirmed there. Log in with its password, then connect it under Account → Security.',
  }),
  otherIdentity: (): AccountError => ({
    status: 409,
    code: 'single_sign_on_not_connected',
    message:
      'The account with your email address is connected to another user of the provider. Ask the operator of this service.',
  }),
  otherEmail: (): AccountError => ({
    status: 409,
    code: 'single_sign_on_not_connected',
    message:
      'The provider has another email address for you than this account. Change one of them, then connect it again.',
  }),
  fromFailure: (kind: OidcFailureKind): AccountError => failures[kind],
} as const

const failures: Readonly<Record<OidcFailureKind, AccountError>> = {
  denied: {
    status: 403,
    code: 'single_sign_on_denied',
    message: `You or the provider declined the log-in. ${startAgain}`,
  },
  unavailable: {
    status: 503,
    code: 'single_sign_on_unavailable',
    message: 'The provider of single sign-on does not respond. Try again in a moment.',
    retryAfterMs: 5_000,
  },
  failed: {
    status: 403,
    code: 'single_sign_on_failed',
    message:
      'The log-in at the provider failed. Start again. If it fails again, ask the operator of this service to look into the log.',
  },
}
