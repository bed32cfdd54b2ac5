import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CliError } from '../cliError.ts'
import type { DevDescription } from './devDescription.ts'

/** The contents of the file. */
interface EnvService extends Pick<DevDescription<string>, 'url'> {
  readonly app: Pick<DevDescription<string>['app'], 'apiKey' | 'urls'>
}

const firstLine = '# Written by keyrail dev, which removes it when it stops. It holds a key.'

const readIfExists = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Writes the app's URL on the first network and its key to an env file: `KEYRAIL_BASE_URL` and `KEYRAIL_API_KEY`. Only its owner can read it.
 *
 * @param path - The file. One from an earlier service is replaced.
 * @param service - The running service.
 * @returns Removes the file, unless a later service has replaced it. Safe to call twice.
 * @throws {CliError} if another program wrote the file, or it cannot be written. Nothing is changed in that case.
 */
export function writeEnvFile(path: string, { url, app }: EnvService): () => void {
  const file = resolve(path)
  const [network = ''] = Object.keys(app.urls)
  const text = `${firstLine}\nKEYRAIL_BASE_URL=${url}/${network}\nKEYRAIL_API_KEY=${app.apiKey}\n`
  try {
    const before = readIfExists(file)
    if (before !== undefined && !before.startsWith(firstLine)) {
      throw new CliError(`${file} was not written by keyrail dev`, {
        hint: 'use another file with --env',
      })
    }
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // Removed first, because writing would preserve the mode of an existing file and follow a symlink.
    rmSync(file, { force: true })
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(`cannot write the --env file: ${error instanceof Error ? error.message : String(error)}`, {
      hint: 'use a file in a folder that you can write to',
    })
  }
  return () => {
    if (readIfExists(file) === text) rmSync(file, { force: true })
  }
}
