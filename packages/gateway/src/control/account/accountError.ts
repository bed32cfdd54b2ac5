/** Why an account's request was rejected: stable names, to be shown to programs. */
export type AccountErrorCode =
  | 'wrong_credentials'
  | 'wrong_password'
  | 'account_disabled'
  | 'account_deleted'
  | 'confirm_required'
  | 'session_required'
  | 'sign_up_closed'
  | 'invite_required'
  | 'invite_invalid'
  | 'link_invalid'
  | 'email_taken'
  | 'email_invalid'
  | 'password_invalid'
  | 'label_invalid'
  | 'scopes_invalid'
  | 'expiry_invalid'
  | 'limits_invalid'
  | 'tokens_full'
  | 'cross_site'
  | 'not_json'
  | 'too_many_tries'
  | 'busy'

/** A request that was rejected. Holds nothing of what was given. */
export interface AccountError {
  /** The HTTP status that says so. */
  readonly status: 401 | 403 | 404 | 409 | 415 | 422 | 429
  readonly code: AccountErrorCode
  /** A sentence for a person: what is wrong, and the fix. */
  readonly message: string
  /** Which of the given fields is wrong, by its name in the request. */
  readonly field?: string
  /** When another try may be made, of those with 429. */
  readonly retryAfterMs?: number
}

/**
 * Whether a result is a rejection.
 * @param result - What a function of the accounts gave.
 */
export const isAccountError = (result: unknown): result is AccountError =>
  typeof result === 'object' &&
  result !== null &&
  typeof (result as { code?: unknown }).code === 'string' &&
  typeof (result as { status?: unknown }).status === 'number'

/** The rejections that say the same wherever they are given. */
export const reject = {
  wrongCredentials: (): AccountError => ({
    status: 401,
    code: 'wrong_credentials',
    message: 'the email address or the password is wrong',
  }),
  wrongPassword: (field: string): AccountError => ({
    status: 403,
    code: 'wrong_password',
    message: 'the password is wrong',
    field,
  }),
  disabled: (): AccountError => ({
    status: 403,
    code: 'account_disabled',
    message: 'this account is disabled: ask who runs this service',
  }),
  gone: (): AccountError => ({ status: 404, code: 'account_deleted', message: 'there is no such account' }),
  needsSession: (): AccountError => ({
    status: 403,
    code: 'session_required',
    message: 'an access token cannot do this: log in with a browser',
  }),
  emailTaken: (): AccountError => ({
    status: 409,
    code: 'email_taken',
    message: 'there is an account with this email address: log in',
    field: 'email',
  }),
  email: (): AccountError => ({
    status: 422,
    code: 'email_invalid',
    message: 'mail must be an address such as ann@example.org, of at most 254 bytes',
    field: 'email',
  }),
  password: (fault: string, field: string): AccountError => ({
    status: 422,
    code: 'password_invalid',
    message: `the password ${fault}`,
    field,
  }),
  invite: (): AccountError => ({
    status: 403,
    code: 'invite_invalid',
    message: 'this invite was used, has ended, or is for another email address: ask for a new one',
    field: 'invite',
  }),
  link: (): AccountError => ({
    status: 404,
    code: 'link_invalid',
    message: 'this link was used or has ended: ask for a new one',
    field: 'link',
  }),
  tooManyTries: (retryAfterMs: number): AccountError => ({
    status: 429,
    code: 'too_many_tries',
    message: `too many tries from here: try again in ${Math.ceil(retryAfterMs / 1_000)} s`,
    retryAfterMs,
  }),
  busy: (): AccountError => ({
    status: 429,
    code: 'busy',
    message: 'too many log in at this moment: try again in a second',
    retryAfterMs: 1_000,
  }),
} as const
