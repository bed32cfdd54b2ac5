import type { ApiErrorView } from '@keyrail/gateway'
import { CliError } from '../cliError.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'

type Code = ApiErrorView['error']['code']

const newToken =
  'create another token in the dashboard, under Account, and pass it in KEYRAIL_TOKEN or with --token-file FILE'

/** How to fix an error whose message does not say so. */
const fixes: Partial<Record<Code, string>> = {
  not_logged_in: newToken,
  wrong_credentials: 'check the email address and the password',
  forbidden: newToken,
  session_required: 'log in with --email, or use the dashboard: a token cannot do this',
  account_disabled: 'contact the operator of the service',
  second_factor_wrong: 'wait for the next code of the app, or use a recovery code',
  log_in_expired: 'run the command again',
  second_factor_missing: 'log in to the dashboard and add a second factor there',
  not_found: 'check the id with list: it does not exist, or belongs to another account',
  account_deleted: 'sign up again',
  method_not_allowed: 'update the service and this command to the same version',
  version_conflict: 'try again',
  too_many: 'delete what you no longer need; list shows all',
  misdirected: 'pass that URL as --service',
  unavailable: 'try again shortly',
}

/**
 * Converts an error response of the control API to a CLI error.
 *
 * @param body - The response body. It may have any shape.
 * @param status - The HTTP status.
 * @returns The error, with exit code 1.
 */
export function toApiError({ error }: Partial<ApiErrorView>, status: number): CliError {
  const { code, message, fields, requestId } = (error ?? {}) as Partial<ApiErrorView['error']>
  const text = typeof message === 'string' ? stripControlCharacters(message) : `HTTP ${status}`
  const known = typeof code === 'string' && Object.hasOwn(fixes, code) ? fixes[code] : undefined
  const sent = typeof requestId === 'string' && /^[\w-]{1,64}$/.test(requestId) ? ` ${requestId}` : ''
  // The message of a validation error already names each field and its fix.
  const fix = known ?? (Array.isArray(fields) || status !== 500 ? undefined : `send the operator the request id${sent}`)
  return new CliError(`the service rejected the request: ${text}`, fix === undefined ? {} : { hint: fix })
}
