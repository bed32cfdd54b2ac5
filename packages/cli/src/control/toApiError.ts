import type { ApiErrorView } from '@keyrail/gateway'
import { CliError } from '../cliError.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'

type Code = ApiErrorView['error']['code']

const anotherToken =
  'make another token in the dashboard, under Account, and put it in KEYRAIL_TOKEN or in the file of --token-file'

/** What to do about a rejection, where its message does not say. */
const fixes: Partial<Record<Code, string>> = {
  not_logged_in: anotherToken,
  wrong_credentials: 'check the email address and the password',
  forbidden: anotherToken,
  session_required: 'only a person can do this: log in with --email, or use the dashboard',
  account_disabled: 'ask who runs the service',
  not_found: 'it is not there, or not yours: see what there is by list',
  account_deleted: 'sign up anew',
  method_not_allowed: 'the service is of another version than this command: bring both up to date',
  version_conflict: 'try again',
  too_many: 'see what there is by list, and end what is not needed',
  misdirected: 'give that address by --service',
  unavailable: 'try again shortly',
}

/**
 * Puts a rejection of the control API in words for the keyboard.
 *
 * @param answer - What came. Nothing of it is believed to be there.
 * @param status - The HTTP status.
 * @returns The failure: message, fix, exit code 1.
 */
export function toApiError({ error }: Partial<ApiErrorView>, status: number): CliError {
  const { code, message, fields, requestId } = (error ?? {}) as Partial<ApiErrorView['error']>
  const told = typeof message === 'string' ? stripControlCharacters(message) : `HTTP ${status}`
  const known = typeof code === 'string' && Object.hasOwn(fixes, code) ? fixes[code] : undefined
  // Of what was typed wrongly the message names every field with its fix.
  const fix =
    known ??
    (Array.isArray(fields) || status !== 500
      ? undefined
      : `its request id is ${stripControlCharacters(`${requestId}`)}`)
  return new CliError(`the service rejected: ${told}`, fix === undefined ? {} : { hint: fix })
}
