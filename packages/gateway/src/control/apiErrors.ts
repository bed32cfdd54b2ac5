import type { AccountError } from './account/accountError.ts'
import type { ApiError, FieldProblem } from './reply.ts'

/** The rejections of the control API. None repeats what was sent. */
export const apiErrors = {
  badJson: (message: string): ApiError => ({ status: 400, code: 'bad_json', message }),
  badMediaType: (): ApiError => ({
    status: 415,
    code: 'bad_media_type',
    message: 'the body must be JSON, with the header content-type: application/json',
  }),
  bodyTooLarge: (maxBytes: number): ApiError => ({
    status: 413,
    code: 'body_too_large',
    message: `the body has more than ${maxBytes} bytes`,
  }),
  invalid: (fields: readonly FieldProblem[]): ApiError => ({
    status: 422,
    code: 'invalid',
    message: fields.map(({ field, fix }) => `${field === '' ? 'the body' : field} ${fix}`).join('; '),
    fields,
  }),
  notFound: (): ApiError => ({ status: 404, code: 'not_found', message: 'there is nothing here' }),
  methodNotAllowed: (allow: string): ApiError => ({
    status: 405,
    code: 'method_not_allowed',
    message: `this address takes ${allow}`,
    allow,
  }),
  misdirected: (expected: string): ApiError => ({
    status: 421,
    code: 'misdirected',
    message: `this service answers at ${expected} alone, which is its publicUrl`,
  }),
  notLoggedIn: (): ApiError => ({
    status: 401,
    code: 'not_logged_in',
    message: 'log in first, or send an access token that is still good',
  }),
  sessionNeeded: (): ApiError => ({
    status: 403,
    code: 'session_required',
    message: 'an access token cannot do this: log in with a browser',
  }),
  scopeNeeded: (scope: string): ApiError => ({
    status: 403,
    code: 'forbidden',
    message: `this access token does not have the scope ${scope}: make one that has`,
  }),
  operatorNeeded: (): ApiError => ({ status: 403, code: 'forbidden', message: 'only operators can do this' }),
  tooManyRequests: (retryAfterMs: number, what: 'changes' | 'reads' = 'changes'): ApiError => ({
    status: 429,
    code: 'too_many_requests',
    message: `too many ${what} at once: try again in ${Math.ceil(retryAfterMs / 1_000)} s`,
    retryAfterMs,
  }),
  crowded: (): ApiError => ({
    status: 429,
    code: 'too_many_requests',
    message: 'too many answers to this address are in flight: try again in 1 s',
    retryAfterMs: 1_000,
  }),
  versionConflict: (): ApiError => ({
    status: 409,
    code: 'version_conflict',
    message: 'it has changed since it was read: read it again, and change that',
    fields: [{ field: 'version', fix: 'is not the newest: read it again' }],
  }),
  nameTaken: (): ApiError => ({
    status: 409,
    code: 'name_taken',
    message: 'another app of this account has this name: choose another',
    fields: [{ field: 'name', fix: 'is taken by another app of this account: choose another' }],
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
    message: 'this key is revoked, and nothing of it can be changed: make another',
  }),
  notRevealable: (message: string): ApiError => ({ status: 409, code: 'not_revealable', message }),
  unavailable: (): ApiError => ({
    status: 503,
    code: 'unavailable',
    message: 'the service cannot reach its database at this moment: try again shortly',
    retryAfterMs: 1_000,
  }),
  internal: (): ApiError => ({
    status: 500,
    code: 'internal',
    message: 'something failed here, which is not your fault: tell whoever runs this service the request id',
  }),
  /** What the accounts reject. */
  ofAccount: ({ status, code, message, field, retryAfterMs }: AccountError): ApiError => ({
    status,
    code,
    message,
    ...(field === undefined ? {} : { fields: [{ field, fix: message }] }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }),
} as const
