import type { EmailProblem } from '../../storage/users.ts'

/** The error codes of accounts. They are stable, so programs can rely on them. */
export type AccountErrorCode =
  | 'wrong_credentials'
  | 'wrong_password'
  | 'account_disabled'
  | 'account_deleted'
  | 'confirm_required'
  | 'session_required'
  | 'second_factor_required'
  | 'second_factor_confirm_required'
  | 'second_factor_wrong'
  | 'second_factor_missing'
  | 'log_in_expired'
  | 'passkey_cloned'
  | 'passkey_taken'
  | 'factors_full'
  | 'sign_up_closed'
  | 'invite_required'
  | 'invite_invalid'
  | 'link_invalid'
  | 'email_taken'
  | 'email_similar'
  | 'email_invalid'
  | 'email_unverified'
  | 'mail_disabled'
  | 'password_log_in_disabled'
  | 'log_in_again'
  | 'single_sign_on_disabled'
  | 'single_sign_on_invalid'
  | 'single_sign_on_denied'
  | 'single_sign_on_failed'
  | 'single_sign_on_unavailable'
  | 'single_sign_on_email_unverified'
  | 'single_sign_on_not_connected'
  | 'password_invalid'
  | 'label_invalid'
  | 'scopes_invalid'
  | 'expiry_invalid'
  | 'limits_invalid'
  | 'tokens_full'
  | 'cross_site'
  | 'not_json'
  | 'personal_account'
  | 'role_required'
  | 'last_owner'
  | 'shares_limits'
  | 'already_member'
  | 'name_wrong'
  | 'not_found'
  | 'too_many'
  | 'too_many_tries'
  | 'busy'

/** A rejected request to accounts. Contains no value from the request. */
export interface AccountError {
  /** The HTTP status of the error response. */
  readonly status: 401 | 403 | 404 | 409 | 415 | 422 | 429 | 503
  readonly code: AccountErrorCode
  /** Human-readable: what happened, then how to fix it. */
  readonly message: string
  /** The request field with the problem. */
  readonly field?: string
  /** With status 429: how long to wait before a retry. */
  readonly retryAfterMs?: number
}

/**
 * Whether a result is an `AccountError`.
 * @param result - The result of an account function.
 */
export const isAccountError = (result: unknown): result is AccountError =>
  typeof result === 'object' &&
  result !== null &&
  typeof (result as { code?: unknown }).code === 'string' &&
  typeof (result as { status?: unknown }).status === 'number'

/** Creates the errors that several functions return. */
export const accountErrors = {
  passwordLogInDisabled: (): AccountError => ({
    status: 403,
    code: 'password_log_in_disabled',
    message: 'This service has no log-in by password. Use single sign-on.',
  }),
  logInAgain: (): AccountError => ({
    status: 403,
    code: 'log_in_again',
    message: 'The session is older than 15 minutes. Log out and in again, then repeat this.',
  }),
  wrongCredentials: (): AccountError => ({
    status: 401,
    code: 'wrong_credentials',
    message: 'The email address or the password is wrong.',
  }),
  wrongPassword: (field: string): AccountError => ({
    status: 403,
    code: 'wrong_password',
    message: 'The password is wrong.',
    field,
  }),
  disabled: (): AccountError => ({
    status: 403,
    code: 'account_disabled',
    message: 'This account is disabled. Ask the operator of this service to enable it.',
  }),
  passwordRequired: (): AccountError => ({
    status: 403,
    code: 'confirm_required',
    message: 'The password is missing. Send your password to confirm.',
    field: 'password',
  }),
  deleted: (): AccountError => ({
    status: 404,
    code: 'account_deleted',
    message: 'This account does not exist. It may have been deleted.',
  }),
  sessionRequired: (): AccountError => ({
    status: 403,
    code: 'session_required',
    message: 'An access token cannot do this. Log in with a browser.',
  }),
  secondFactorRequired: (): AccountError => ({
    status: 403,
    code: 'second_factor_required',
    message: 'The log-in needs a second factor. Enter a code of your authenticator app, or use a passkey.',
  }),
  /** In place of the password, in a session of an account with a second factor. */
  factorRequired: (): AccountError => ({
    status: 403,
    code: 'second_factor_confirm_required',
    message: 'The second factor was proved more than 10 minutes ago. Prove it again with POST /api/session/confirm.',
  }),
  wrongFactor: (): AccountError => ({
    status: 403,
    code: 'second_factor_wrong',
    message: 'The code or passkey is wrong, or was used before. Try again with the next code.',
    field: 'code',
  }),
  clonedPasskey: (): AccountError => ({
    status: 403,
    code: 'passkey_cloned',
    message:
      'Another device has used a copy of this passkey. Log in with another factor, remove this passkey, and change your password.',
  }),
  tooManyCodes: (retryAfterMs: number): AccountError => ({
    status: 429,
    code: 'too_many_tries',
    message: `Too many wrong codes. Use a passkey or a recovery code, or try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
    retryAfterMs,
  }),
  logInExpired: (): AccountError => ({
    status: 403,
    code: 'log_in_expired',
    message: 'This log-in was used, has expired, or was started in another browser. Log in again.',
  }),
  passkeyTaken: (): AccountError => ({
    status: 409,
    code: 'passkey_taken',
    message: 'This passkey already belongs to an account. Create another one.',
  }),
  factorsFull: (max: number): AccountError => ({
    status: 409,
    code: 'factors_full',
    message: `This account has ${max} second factors, the maximum. Remove one first.`,
  }),
  noSecondFactor: (): AccountError => ({
    status: 403,
    code: 'second_factor_missing',
    message:
      'This needs an account with a second factor. Add an authenticator app or a passkey in the dashboard first.',
  }),
  signUpClosed: (): AccountError => ({
    status: 403,
    code: 'sign_up_closed',
    message: 'Sign-up is closed. Ask the operator of this service for an account.',
  }),
  emailUnverified: (): AccountError => ({
    status: 403,
    code: 'email_unverified',
    message: 'The email address is not confirmed. Request a link to it, then sign up with the link.',
    field: 'email',
  }),
  emailDisabled: (): AccountError => ({
    status: 409,
    code: 'mail_disabled',
    message: 'This service sends no email. Ask its operator for a link.',
  }),
  emailTaken: (): AccountError => ({
    status: 409,
    code: 'email_taken',
    message: 'This email address already has an account. Log in instead.',
    field: 'email',
  }),
  emailSimilar: (): AccountError => ({
    status: 409,
    code: 'email_similar',
    message:
      'This email address looks like the one of another account. Use another one, or ask the operator of this service.',
    field: 'email',
  }),
  fromEmailProblem: (problem: EmailProblem): AccountError =>
    problem === 'emailTaken' ? accountErrors.emailTaken() : accountErrors.emailSimilar(),
  email: (): AccountError => ({
    status: 422,
    code: 'email_invalid',
    message: 'The email address is not valid. Use one such as ann@example.org, of at most 254 bytes.',
    field: 'email',
  }),
  password: (problem: string, field: string): AccountError => ({
    status: 422,
    code: 'password_invalid',
    message: `The password ${problem}`,
    field,
  }),
  invite: (): AccountError => ({
    status: 403,
    code: 'invite_invalid',
    message: 'This invite was used, has expired, or is for another email address. Ask for a new one.',
    field: 'invite',
  }),
  link: (): AccountError => ({
    status: 404,
    code: 'link_invalid',
    message: 'This link was used or has expired. Ask for a new one.',
    field: 'link',
  }),
  logInLink: (): AccountError => ({
    status: 404,
    code: 'link_invalid',
    message:
      'This log-in link was used or has expired: it works once, within 15 minutes. Log in with the email address and the password, or restart the program that printed the link for a new one.',
    field: 'link',
  }),
  tooManyTries: (retryAfterMs: number): AccountError => ({
    status: 429,
    code: 'too_many_tries',
    message: `Too many attempts from this IP address. Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
    retryAfterMs,
  }),
  busy: (): AccountError => ({
    status: 429,
    code: 'busy',
    message: 'Too many log-ins at once. Try again in 1 s.',
    retryAfterMs: 1_000,
  }),
} as const
