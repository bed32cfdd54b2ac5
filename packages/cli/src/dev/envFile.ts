import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CliError } from '../cliError.ts'
import { lockFile } from '../lockFile.ts'
import type { DevDescription } from './devDescription.ts'

/** The contents of the file. */
interface EnvService extends Pick<DevDescription<string>, 'url'> {
  readonly app: Pick<DevDescription<string>['app'], 'apiKey' | 'urls'>
}

/** Allows one service per file: the second one would replace the file of the first, and then remove it. */
const lock = (file: string): (() => void) =>
  lockFile(`${file}.lock`, (holder) => ({
    message: `${file} has the URL and key of another running service, process ${holder}`,
    fix: 'stop that service, or use another file for this one with --env',
  }))

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
 * @param path - The file. One from a service that was killed is replaced. It is locked until it is removed.
 * @param service - The running service.
 * @returns Removes the file, unless another program has replaced it. Safe to call twice.
 * @throws {CliError} if it belongs to another running service or program, or it cannot be written. Nothing is changed in that case.
 */
export function writeEnvFile(path: string, { url, app }: EnvService): () => void {
  const file = resolve(path)
  const [network = ''] = Object.keys(app.urls)
  const text = `${firstLine}\nKEYRAIL_BASE_URL=${url}/${network}\nKEYRAIL_API_KEY=${app.apiKey}\n`
  let unlock = (): void => {}
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    unlock = lock(file)
    const before = readIfExists(file)
    if (before !== undefined && !before.startsWith(firstLine)) {
      throw new CliError(`${file} was not written by keyrail dev`, {
        hint: 'use another file with --env',
      })
    }
    // Removed first, because writing would preserve the mode of an existing file and follow a symlink.
    rmSync(file, { force: true })
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    unlock()
    if (error instanceof CliError) throw error
    throw new CliError(`cannot write the --env file: ${error instanceof Error ? error.message : String(error)}`, {
      hint: 'use a file in a folder that you can write to',
    })
  }
  let isRemoved = false
  return () => {
    // The next service may have written the same text.
    if (!isRemoved && readIfExists(file) === text) rmSync(file, { force: true })
    isRemoved = true
    unlock()
  }
}
