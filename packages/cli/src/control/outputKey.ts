import type { ReadArguments } from '../arguments/command.ts'
import { wrongUsage } from '../cliError.ts'
import type { Said } from './action.ts'
import { reserveKeyFile } from './reserveKeyFile.ts'

/** What an answer that holds a key comes to, without the key. */
export interface Made {
  /** For programs. */
  readonly json: Readonly<Record<string, unknown>>
  /** Of what the answer holds, what only is shown where the key is. */
  readonly secret: { readonly apiKey: string }
  readonly lines: readonly string[]
}

/** The options that say where a key goes. */
export const keyOptions: readonly string[] = ['key-file', 'show']

/**
 * Rejects to make a key that nobody would see: it is shown once.
 *
 * @throws {CliError} exit code 2 where it is not said where the key goes, or said twice.
 */
export function checkKeyOutput(given: ReadArguments): void {
  const file = given.text('key-file') !== undefined
  if (file === given.flag('show')) {
    throw wrongUsage(
      file ? '--key-file and --show exclude each other' : 'it is not said where the new key goes, which is shown once',
      'give --key-file FILE to have it there, or --show to have it printed',
    )
  }
}

/**
 * Makes a key and puts it where it was asked for: into a file, or on standard output. A file is tried before anything is made.
 *
 * @param given - `--key-file`, else it is printed.
 * @param options.replaces - Whether a file that holds a key gives way.
 * @param options.make - Asks the service.
 */
export async function outputKey(
  given: ReadArguments,
  { replaces, make }: { readonly replaces: boolean; readonly make: () => Promise<Made> },
): Promise<Said> {
  const path = given.text('key-file')
  if (path === undefined) {
    const { json, secret, lines } = await make()
    return { json: { ...json, ...secret }, lines, apiKey: secret.apiKey }
  }
  const file = reserveKeyFile(path, { replaces })
  try {
    const { json, secret, lines } = await make()
    file.write(secret.apiKey)
    return { json: { ...json, keyFile: file.path }, lines: [...lines, `The key is in ${file.path}`] }
  } finally {
    file.release()
  }
}
