import type { ControlApi } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { canPrompt, promptSecret } from '../secret/promptSecret.ts'
import { readSecretFile } from '../secret/readSecretFile.ts'
import { sendRequest } from './controlApi.ts'
import type { ControlResponse, Credential } from './controlApi.ts'

type Environment = Readonly<Record<string, string | undefined>>

const tokenHint =
  'create a personal access token in the dashboard, under Account, and pass it in KEYRAIL_TOKEN or with --token-file FILE'

/**
 * Reads the personal access token: from `--token-file`, from KEYRAIL_TOKEN, or from a prompt on the terminal.
 *
 * @param given - The command's arguments.
 * @param environment - KEYRAIL_TOKEN is read.
 * @throws {CliError} exit code 2 if it is missing or invalid. The message never contains it.
 */
export async function readToken(given: ReadArguments, environment: Environment): Promise<Credential> {
  const file = given.text('token-file')
  const token =
    file !== undefined
      ? readSecretFile(file, { name: 'token file', content: 'token', hint: tokenHint })
      : (environment['KEYRAIL_TOKEN'] ?? (canPrompt() ? await promptSecret('Personal access token') : '')).trim()
  if (token === '') throw wrongUsage('the personal access token is missing', tokenHint)
  if (token.startsWith('kr_')) throw wrongUsage('the token is an API key, not a personal access token', tokenHint)
  // The characters that a header allows.
  if (!/^[\x21-\x7E]+$/.test(token)) throw wrongUsage('the token contains an invalid character', tokenHint)
  return { token }
}

const passwordHint = 'enter it at the prompt on a terminal, or pass it with --password-file FILE'

/** Finishes a login that needs a second factor. */
async function proveSecondFactor(origin: string, cookie: string): Promise<ControlResponse> {
  if (!canPrompt())
    throw new CliError('the account has a second factor, and this command cannot prompt for a code', {
      hint: 'run it on a terminal, or use the dashboard',
    })
  const code = await promptSecret('Code of your authenticator app, or a recovery code')
  if (code === '') throw wrongUsage('the code is empty', 'enter it at the prompt, or use the dashboard with a passkey')
  const body: ControlApi['POST /api/session/second-factor']['body'] = { code }
  return sendRequest(origin, { name: 'POST /api/session/second-factor', body }, { cookie })
}

/** A session for one command. */
export interface LoginSession {
  readonly credential: Credential
  /** Logs out. */
  readonly end: () => Promise<void>
}

/**
 * Logs in with `--email` and a password, from a prompt or from `--password-file`.
 *
 * @param given - The command's arguments.
 * @param origin - The origin of the service.
 * @throws {CliError} exit code 2 without an email address or a password; otherwise as `sendRequest`.
 */
export async function logIn(given: ReadArguments, origin: string): Promise<LoginSession> {
  const email = given.text('email')
  if (email === undefined) {
    throw wrongUsage(
      'this action needs a login: a token cannot do it',
      'add --email EMAIL and enter the password at the prompt',
    )
  }
  const file = given.text('password-file')
  if (file === undefined && !canPrompt()) throw wrongUsage('cannot prompt for the password', passwordHint)
  const password =
    file === undefined
      ? await promptSecret(`Password for ${email}`)
      : readSecretFile(file, { name: 'password file', content: 'password', hint: passwordHint })
  if (password === '') throw wrongUsage('the password is empty', passwordHint)
  const body: ControlApi['POST /api/session']['body'] = { email, password }
  const started = await sendRequest(origin, { name: 'POST /api/session', body }, undefined)
  const { cookie } = started.needsSecondFactor ? await proveSecondFactor(origin, started.cookie ?? '') : started
  if (cookie === undefined) {
    throw new CliError(`${origin} did not start a session`, {
      hint: 'check that this is the URL of the dashboard',
      exitCode: exitCodes.noResponse,
    })
  }
  const credential = { cookie }
  return {
    credential,
    // The session also expires, so a failure here must not hide the result.
    end: () =>
      sendRequest(origin, { name: 'DELETE /api/session' }, credential).then(
        () => undefined,
        () => undefined,
      ),
  }
}
