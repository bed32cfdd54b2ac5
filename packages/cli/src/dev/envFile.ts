import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CliError } from '../cliError.ts'
import type { DevDescription } from './devService.ts'

const firstLine = '# Written by keyrail dev, which removes it when it stops. It holds a key.'

const contents = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Writes the app's address on the testnet into a file of environment variables: `KEYRAIL_BASE_URL` and `KEYRAIL_API_KEY`. For its owner alone.
 *
 * @param path - The file. One that an earlier service wrote is replaced.
 * @param service - What runs.
 * @returns Removes the file, unless a later service has written it anew. Safe to call twice.
 * @throws {CliError} where the file is somebody else's, or cannot be written. Nothing is changed then.
 */
export function writeEnvFile(path: string, { url, app }: Pick<DevDescription, 'url' | 'app'>): () => void {
  const file = resolve(path)
  const text = `${firstLine}\nKEYRAIL_BASE_URL=${url}/testnet\nKEYRAIL_API_KEY=${app.apiKey}\n`
  try {
    const before = contents(file)
    if (before !== undefined && !before.startsWith(firstLine)) {
      throw new CliError(`${file} was not written by keyrail dev, and is left as it is`, {
        hint: 'give another file with --env',
      })
    }
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // Removed first: the mode of a file that is there already would stay as it is, and a link would be followed.
    rmSync(file, { force: true })
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(
      `the file of --env cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      {
        hint: 'give a file in a folder that can be written',
      },
    )
  }
  return () => {
    if (contents(file) === text) rmSync(file, { force: true })
  }
}
