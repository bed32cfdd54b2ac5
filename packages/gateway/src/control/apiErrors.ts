import type { AccountError, AccountErrorCode } from './account/accountError.ts'
import type { ApiErrorCode } from './contract/apiError.ts'

/** A problem with one field of a request, and how to fix it. */
export interface FieldProblem {
  /** The field's path, such as `name`, `limits.perDay` or `services[0]`. */
  readonly field: string
  /** Continues a sentence that starts with the field's name, such as `must be a string`. Never contains the field's value. */
  readonly fix: string
}

/** An error response of the control API. */
export interface ApiError {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 421 | 422 | 429 | 500 | 503
  readonly code: ApiErrorCode | AccountErrorCode
  /** What happened, then how to fix it. */
  readonly message: string
  readonly fields?: readonly FieldProblem[]
  readonly retryAfterMs?: number
  /** With status 405: the methods that the path supports. */
  readonly allow?: string
}

/** Creates the control API's error responses. None of them repeats a value from the request. */
export const apiErrors = {
  badJson: (message: string): ApiError => ({ status: 400, code: 'bad_json', message }),
  badMediaType: (): ApiError => ({
    status: 415,
    code: 'bad_media_type',
    message: 'The body is not declared as JSON. Send the header content-type: application/json.',
  }),
  bodyTooLarge: (maxBytes: number): ApiError => ({
    status: 413,
    code: 'body_too_large',
    message: `The body is too large. Send at most ${maxBytes} bytes.`,
  }),
  invalid: (fields: readonly FieldProblem[]): ApiError => ({
    status: 422,
    code: 'invalid',
    message: fields.map(({ field, fix }) => `${field === '' ? 'the body' : field} ${fix}`).join('; '),
    fields,
  }),
  notFound: (): ApiError => ({
    status: 404,
    code: 'not_found',
    message: 'Not found. Check the path and the ids in it.',
  }),
  methodNotAllowed: (allow: string): ApiError => ({
    status: 405,
    code: 'method_not_allowed',
    message: `This path does not support the method. Use ${allow}.`,
    allow,
  }),
  misdirected: (expected: string): ApiError => ({
    status: 421,
    code: 'misdirected',
    message: `This service has another host name. Use ${expected}, its publicUrl.`,
  }),
  notLoggedIn: (): ApiError => ({
    status: 401,
    code: 'not_logged_in',
    message: 'You are not logged in. Log in, or send a valid access token.',
  }),
  sessionRequired: (): ApiError => ({
    status: 403,
    code: 'session_required',
    message: 'An access token cannot do this. Log in with a browser.',
  }),
  scopeRequired: (scope: string): ApiError => ({
    status: 403,
    code: 'forbidden',
    message: `This access token does not have the scope ${scope}. Create a token that has it.`,
  }),
  unknownAccount: (): ApiError => ({
    status: 404,
    code: 'unknown_account',
    message:
      'You are not a member of the account in the header X-Keyrail-Account, or the access token belongs to another account. List yours with GET /api/accounts.',
  }),
  membershipEnded: (): ApiError => ({
    status: 403,
    code: 'role_required',
    message: 'Your role in this account was taken away while the request was handled. Nothing was changed.',
  }),
  /** @param role - The caller's. */
  roleRequired: (role: string): ApiError => ({
    status: 403,
    code: 'role_required',
    message: `Your role in this account, ${role}, does not allow this. Ask an owner or an admin of the account.`,
  }),
  operatorRequired: (): ApiError => ({
    status: 403,
    code: 'forbidden',
    message: 'Only operators can do this. Log in as an operator, or send the operator token.',
  }),
  tooManyRequests: (retryAfterMs: number, kind: 'changes' | 'reads' = 'changes'): ApiError => ({
    status: 429,
    code: 'too_many_requests',
    message: `Too many ${kind} at once. Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
    retryAfterMs,
  }),
  tooManyInFlight: (): ApiError => ({
    status: 429,
    code: 'too_many_requests',
    message: 'Too many requests from this IP address are in flight. Try again in 1 s.',
    retryAfterMs: 1_000,
  }),
  versionConflict: (): ApiError => ({
    status: 409,
    code: 'version_conflict',
    message: 'It has changed since you read it. Read it again, then change the new version.',
    fields: [{ field: 'version', fix: 'is not the latest: read it again' }],
  }),
  nameTaken: (): ApiError => ({
    status: 409,
    code: 'name_taken',
    message: 'Another app of this account has this name. Choose another name.',
    fields: [{ field: 'name', fix: 'is the name of another app of this account: choose another name' }],
  }),
  nameTakenInTarget: (): ApiError => ({
    status: 409,
    code: 'name_taken',
    message: 'An app of the other account has this name. Rename one of them first.',
    fields: [{ field: 'accountId', fix: 'has an app with this name: rename one of them first' }],
  }),
  tooMany: (message: string): ApiError => ({ status: 409, code: 'too_many', message }),
  alreadyExists: (field: string, fix: string): ApiError => ({
    status: 409,
    code: 'already_exists',
    message: `${field} ${fix}`,
    fields: [{ field, fix }],
  }),
  inUse: (message: string): ApiError => ({ status: 409, code: 'in_use', message }),
  revoked: (): ApiError => ({
    status: 409,
    code: 'revoked',
    message: 'This key is revoked and cannot be changed. Create another key.',
  }),
  notRevealable: (message: string): ApiError => ({ status: 409, code: 'not_revealable', message }),
  unavailable: (): ApiError => ({
    status: 503,
    code: 'unavailable',
    message: 'The service cannot reach its database. Try again in a moment.',
    retryAfterMs: 1_000,
  }),
  internal: (): ApiError => ({
    status: 500,
    code: 'internal',
    message: 'The service failed to handle the request. Send the request id to the operator of this service.',
  }),
  fromAccountError: ({ status, code, message, field, retryAfterMs }: AccountError): ApiError => ({
    status,
    code,
    message,
    ...(field === undefined ? {} : { fields: [{ field, fix: message }] }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }),
} as const
