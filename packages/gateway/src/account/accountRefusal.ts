/** Why an account's request was refused: stable names, to be shown to programs. */
export type AccountRefusalCode =
  | 'wrong_credentials'
  | 'wrong_password'
  | 'account_disabled'
  | 'account_gone'
  | 'confirm_required'
  | 'session_required'
  | 'sign_up_closed'
  | 'invite_required'
  | 'invite_invalid'
  | 'link_invalid'
  | 'mail_taken'
  | 'mail_invalid'
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

/** A request that was refused. Holds nothing of what was given. */
export interface AccountRefusal {
  /** The HTTP status that says so. */
  readonly status: 401 | 403 | 404 | 409 | 415 | 422 | 429
  readonly code: AccountRefusalCode
  /** A sentence for a person: what is wrong, and the mend. */
  readonly message: string
  /** Which of the given fields is wrong, by its name in the request. */
  readonly field?: string
  /** When another try may be made, of those with 429. */
  readonly retryAfterMs?: number
}

/**
 * Whether a result is a refusal.
 * @param result - What a function of the accounts gave.
 */
export const isAccountRefusal = (result: unknown): result is AccountRefusal =>
  typeof result === 'object' &&
  result !== null &&
  typeof (result as { code?: unknown }).code === 'string' &&
  typeof (result as { status?: unknown }).status === 'number'
