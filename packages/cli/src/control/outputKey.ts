import type { ReadArguments } from '../arguments/command.ts'
import { wrongUsage } from '../cliError.ts'
import type { ActionResult } from './action.ts'
import { reserveKeyFile } from './reserveKeyFile.ts'

/** A response that contains a key, split into the key and the rest. */
export interface KeyResponse {
  /** The rest, for programs. */
  readonly json: Readonly<Record<string, unknown>>
  /** The key, and anything else that contains it. */
  readonly secret: { readonly apiKey: string }
  readonly lines: readonly string[]
}

/** The options that select where a key goes. */
export const keyOptions: readonly string[] = ['key-file', 'show']

/**
 * Requires exactly one output for a new key, because the service shows it only once.
 *
 * @throws {CliError} exit code 2 for none or two.
 */
export function checkKeyOutput(given: ReadArguments): void {
  const file = given.text('key-file') !== undefined
  if (file === given.flag('show')) {
    throw wrongUsage(
      file ? '--key-file and --show cannot be combined' : 'a new key is shown only once and needs an output',
      'add --key-file FILE to store it, or --show to print it',
    )
  }
}

/**
 * Requests a key, and writes it to a file or to standard output. It reserves the file before the request.
 *
 * @param given - `--key-file`; without it, the key is printed.
 * @param options.replaces - Whether to replace a file that contains a key.
 * @param options.request - Sends the request.
 */
export async function outputKey(
  given: ReadArguments,
  { replaces, request }: { readonly replaces: boolean; readonly request: () => Promise<KeyResponse> },
): Promise<ActionResult> {
  const path = given.text('key-file')
  if (path === undefined) {
    const { json, secret, lines } = await request()
    return { json: { ...json, ...secret }, lines, apiKey: secret.apiKey }
  }
  const file = reserveKeyFile(path, { replaces })
  try {
    const { json, secret, lines } = await request()
    file.write(secret.apiKey)
    return { json: { ...json, keyFile: file.path }, lines: [...lines, `Wrote the key to ${file.path}`] }
  } finally {
    file.release()
  }
}
