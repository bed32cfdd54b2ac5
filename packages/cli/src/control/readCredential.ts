import type { ControlApi } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { canPrompt, promptSecret } from '../secret/promptSecret.ts'
import { readSecretFile } from '../secret/readSecretFile.ts'
import { context } from './controlApi.ts'
import type { Credential } from './controlApi.ts'

type Environment = Readonly<Record<string, string | undefined>>

const tokenHint =
  'make a personal access token in the dashboard, under Account; put it in KEYRAIL_TOKEN, or in a file named by --token-file'

/**
 * Finds the personal access token: the file of `--token-file`, else KEYRAIL_TOKEN, else whoever sits at the terminal.
 *
 * @param given - The command's arguments.
 * @param environment - KEYRAIL_TOKEN is read.
 * @throws {CliError} exit code 2 where there is none, or it is of another kind. It is never repeated.
 */
export async function readToken(given: ReadArguments, environment: Environment): Promise<Credential> {
  const file = given.text('token-file')
  const token =
    file !== undefined
      ? readSecretFile(file, { name: 'token file', holds: 'token', hint: tokenHint })
      : (environment['KEYRAIL_TOKEN'] ?? (canPrompt() ? await promptSecret('Personal access token') : '')).trim()
  if (token === '') throw wrongUsage('there is no token to ask with', tokenHint)
  if (token.startsWith('kr_')) throw wrongUsage('what was given as a token is an API key', tokenHint)
  // A header takes no others.
  if (!/^[\x21-\x7E]+$/.test(token))
    throw wrongUsage('what was given as a token holds a character of no token', tokenHint)
  return { token }
}

const passwordHint = 'type it when you are asked, on a terminal, or give a file by --password-file'

/** A session that was begun for one command. */
export interface OwnSession {
  readonly credential: Credential
  /** Ends it. */
  readonly end: () => Promise<void>
}

/**
 * Logs in as a person: by the email address of `--email` and a password that is asked for, or stands in the file of `--password-file`.
 *
 * @param given - The command's arguments.
 * @param origin - Of the service.
 * @throws {CliError} exit code 2 where there is no email address or no password; else as `context`.
 */
export async function logIn(given: ReadArguments, origin: string): Promise<OwnSession> {
  const email = given.text('email')
  if (email === undefined) {
    throw wrongUsage(
      'a key is shown again to a person, and never to a token',
      'add --email with the email address of the account, and give its password when you are asked; or rotate the key to have a new one',
    )
  }
  const file = given.text('password-file')
  if (file === undefined && !canPrompt()) throw wrongUsage('there is nobody to ask for the password', passwordHint)
  const password =
    file === undefined
      ? await promptSecret(`Password of ${email}`)
      : readSecretFile(file, { name: 'password file', holds: 'password', hint: passwordHint })
  if (password === '') throw wrongUsage('there is no password', passwordHint)
  const body: ControlApi['POST /api/session']['body'] = { email, password }
  const { cookie } = await context(origin, { name: 'POST /api/session', body }, undefined)
  if (cookie === undefined) {
    throw new CliError(`${origin} let nobody in, and rejected nobody`, {
      hint: 'is this the address of the dashboard?',
      exitCode: exitCodes.noResponse,
    })
  }
  const credential = { cookie }
  return {
    credential,
    // It ends by itself too, so a failure here must not hide what was asked for.
    end: () =>
      context(origin, { name: 'DELETE /api/session' }, credential).then(
        () => undefined,
        () => undefined,
      ),
  }
}
