import type { AccountRefusal } from './account/accountError.ts'
import type { ControlRefusal, FieldProblem } from './reply.ts'

/** The refusals of the control API. None repeats what was sent. */
export const controlRefusals = {
  badJson: (message: string): ControlRefusal => ({ status: 400, code: 'bad_json', message }),
  badMediaType: (): ControlRefusal => ({
    status: 415,
    code: 'bad_media_type',
    message: 'the body must be JSON, with the header content-type: application/json',
  }),
  bodyTooLarge: (maxBytes: number): ControlRefusal => ({
    status: 413,
    code: 'body_too_large',
    message: `the body has more than ${maxBytes} bytes`,
  }),
  invalid: (fields: readonly FieldProblem[]): ControlRefusal => ({
    status: 422,
    code: 'invalid',
    message: fields.map(({ field, mend }) => `${field === '' ? 'the body' : field} ${mend}`).join('; '),
    fields,
  }),
  notFound: (): ControlRefusal => ({ status: 404, code: 'not_found', message: 'there is nothing here' }),
  methodNotAllowed: (allow: string): ControlRefusal => ({
    status: 405,
    code: 'method_not_allowed',
    message: `this address takes ${allow}`,
    allow,
  }),
  misdirected: (expected: string): ControlRefusal => ({
    status: 421,
    code: 'misdirected',
    message: `this service answers at ${expected} alone, which is its publicUrl`,
  }),
  notLoggedIn: (): ControlRefusal => ({
    status: 401,
    code: 'not_logged_in',
    message: 'log in first, or send an access token that is still good',
  }),
  sessionNeeded: (): ControlRefusal => ({
    status: 403,
    code: 'session_required',
    message: 'an access token cannot do this: log in with a browser',
  }),
  scopeNeeded: (scope: string): ControlRefusal => ({
    status: 403,
    code: 'forbidden',
    message: `this access token does not have the scope ${scope}: make one that has`,
  }),
  operatorNeeded: (): ControlRefusal => ({ status: 403, code: 'forbidden', message: 'only operators can do this' }),
  tooManyRequests: (retryAfterMs: number, what: 'changes' | 'reads' = 'changes'): ControlRefusal => ({
    status: 429,
    code: 'too_many_requests',
    message: `too many ${what} at once: try again in ${Math.ceil(retryAfterMs / 1_000)} s`,
    retryAfterMs,
  }),
  crowded: (): ControlRefusal => ({
    status: 429,
    code: 'too_many_requests',
    message: 'too many answers to this address are under way: try again in 1 s',
    retryAfterMs: 1_000,
  }),
  versionConflict: (): ControlRefusal => ({
    status: 409,
    code: 'version_conflict',
    message: 'it has changed since it was read: read it again, and change that',
    fields: [{ field: 'version', mend: 'is not the newest: read it again' }],
  }),
  nameTaken: (): ControlRefusal => ({
    status: 409,
    code: 'name_taken',
    message: 'another app of this account has this name: choose another',
    fields: [{ field: 'name', mend: 'is taken by another app of this account: choose another' }],
  }),
  tooMany: (message: string): ControlRefusal => ({ status: 409, code: 'too_many', message }),
  alreadyThere: (field: string, mend: string): ControlRefusal => ({
    status: 409,
    code: 'already_there',
    message: `${field} ${mend}`,
    fields: [{ field, mend }],
  }),
  inUse: (message: string): ControlRefusal => ({ status: 409, code: 'in_use', message }),
  revoked: (): ControlRefusal => ({
    status: 409,
    code: 'revoked',
    message: 'this key is revoked, and nothing of it can be changed: make another',
  }),
  notRevealable: (message: string): ControlRefusal => ({ status: 409, code: 'not_revealable', message }),
  unavailable: (): ControlRefusal => ({
    status: 503,
    code: 'unavailable',
    message: 'the service cannot reach its database at this moment: try again shortly',
    retryAfterMs: 1_000,
  }),
  internal: (): ControlRefusal => ({
    status: 500,
    code: 'internal',
    message: 'something failed here, which is not your fault: tell whoever runs this service the request id',
  }),
  /** What the accounts refuse. */
  ofAccount: ({ status, code, message, field, retryAfterMs }: AccountRefusal): ControlRefusal => ({
    status,
    code,
    message,
    ...(field === undefined ? {} : { fields: [{ field, mend: message }] }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }),
} as const
