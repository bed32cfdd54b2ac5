import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { CliError } from '../cliError.ts'
import { findLockHolder, lockFile } from '../lockFile.ts'
import { defaultNetworks } from './devNetworks.ts'
import type { DevNetwork } from './devNetworks.ts'
import type { DevDescription } from './devDescription.ts'
import { addKeys, createDevState, parseDevState } from './devState.ts'
import type { DevState } from './devState.ts'

/** The data folder without `--data`, in the current folder. */
export const defaultFolder = '.keyrail'

/** The data folder of `keyrail dev`. */
export interface DevFolder {
  readonly path: string
  /** Whether it is removed when the process exits. */
  readonly temporary: boolean
  readonly state: DevState
  /** Saves the state, and the key files. */
  readonly saveState: (state: DevState) => void
  /** The service's database. */
  readonly database: string
  /** The secret that encrypts the service's keys. */
  readonly secret: string
  /** The folder of files with one key each: `app`, and the name of each network. For `keyrail call --key-file` and shells. */
  readonly keyFiles: string
  /** The file with the account's password. */
  readonly passwordFile: string
  /** Gets the saved chain of a network; undefined if there is none. */
  readonly savedChain: (network: string) => string | undefined
  /** Gets the file where a node saves its chain; undefined in a temporary folder. */
  readonly nextChain: (network: string) => string | undefined
  /** Saves the description of the running service, for the next `keyrail dev`. It is removed on release. */
  readonly saveDescription: (description: DevDescription<string>) => void
  /** Moves the newly saved chains into place and unlocks the folder. Removes a temporary one. */
  readonly release: () => void
}

const privateFile = { mode: 0o600 } as const
const privateFolder = { recursive: true, mode: 0o700 } as const

/** Writes a file atomically. */
function writeAtomically(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.new`
  writeFileSync(temporary, text, privateFile)
  renameSync(temporary, path)
}

/** The files with secrets for users. */
const getPaths = (path: string) => ({ keyFiles: join(path, 'keys'), passwordFile: join(path, 'password') })

const lockName = 'lock'
const descriptionName = 'service.json'

/** Allows one process per folder: two would overwrite each other's chains. */
const lock = (path: string): (() => void) =>
  lockFile(join(path, lockName), (holder) => ({
    message: `keyrail dev is already running with the data folder ${path}, as process ${holder}`,
    fix: 'use that service, whose URLs and keys --json prints, or stop it with Ctrl-C in its terminal; for a second service, add --ephemeral or another --data folder',
  }))

function readState(file: string): DevState {
  const text = readFileSync(file, 'utf8')
  try {
    return parseDevState(text)
  } catch (error) {
    throw new CliError(`cannot use ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      hint: 'nothing was changed; fix the file, or use an empty folder with --data to start over',
    })
  }
}

function checkChain(file: string, fallback: string | undefined): void {
  try {
    JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw new CliError(`cannot use ${file}: invalid JSON`, {
      hint:
        fallback === undefined
          ? 'nothing was changed; move the file away to start a new chain'
          : `nothing was changed; move the file away to use the previous chain, ${fallback}`,
    })
  }
}

function open(path: string, networks: readonly DevNetwork[], temporary: boolean): DevFolder {
  const unlock = lock(path)
  try {
    const stateFile = join(path, 'keyrail.json')
    const { keyFiles, passwordFile } = getPaths(path)
    const chain = (network: string): string => join(path, `${network}.chain.json`)
    const next = (network: string): string => join(path, `${network}.chain.next.json`)
    const secretFile = join(path, 'secret')
    const descriptionFile = join(path, descriptionName)
    // Left over if the process was killed.
    rmSync(descriptionFile, { force: true })
    const state = existsSync(stateFile) ? addKeys(readState(stateFile), networks) : createDevState(networks)
    // Everything is validated before anything is written.
    for (const { name: network } of networks) {
      const previous = existsSync(chain(network)) ? chain(network) : undefined
      if (existsSync(next(network))) checkChain(next(network), previous)
      else if (previous !== undefined) checkChain(previous, undefined)
    }
    const replaceChains = (): void => {
      for (const { name: network } of networks) {
        if (!existsSync(next(network))) continue
        chmodSync(next(network), privateFile.mode)
        renameSync(next(network), chain(network))
      }
    }
    // After a kill, the nodes still saved their chains, but nothing moved them into place.
    replaceChains()
    const saveState = (next: DevState): void => {
      const text = `${JSON.stringify(next, undefined, 2)}\n`
      if (!existsSync(stateFile) || readFileSync(stateFile, 'utf8') !== text) writeAtomically(stateFile, text)
      writeAtomically(passwordFile, `${next.account.password}\n`)
      mkdirSync(keyFiles, privateFolder)
      writeAtomically(join(keyFiles, 'app'), `${next.app.apiKey}\n`)
      // A key that could not be created.
      for (const network of Object.keys(state.keys))
        if (!next.keys[network]) rmSync(join(keyFiles, network), { force: true })
      for (const [network, { apiKey }] of Object.entries(next.keys))
        writeAtomically(join(keyFiles, network), `${apiKey}\n`)
    }
    saveState(state)
    if (!existsSync(secretFile)) writeAtomically(secretFile, `${randomBytes(48).toString('base64url')}\n`)
    return {
      path,
      temporary,
      state,
      saveState,
      database: join(path, 'keyrail.db'),
      secret: readFileSync(secretFile, 'utf8').trim(),
      keyFiles,
      passwordFile,
      savedChain: (network) => (existsSync(chain(network)) ? chain(network) : undefined),
      saveDescription: (description) => writeAtomically(descriptionFile, JSON.stringify(description)),
      nextChain: (network) => (temporary ? undefined : next(network)),
      release: () => {
        if (temporary) rmSync(path, { recursive: true, force: true })
        else {
          replaceChains()
          rmSync(descriptionFile, { force: true })
          unlock()
        }
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/** A service of another process. */
export interface RunningElsewhere {
  readonly processId: number
  /** Contains secrets. */
  readonly description: DevDescription<string>
  readonly folder: Pick<DevFolder, 'path' | 'keyFiles' | 'passwordFile' | 'temporary'>
}

/**
 * Finds the service that runs with a data folder.
 *
 * @param given - The folder.
 * @returns Undefined if none runs, or it is still starting.
 */
export function findRunning(given: string): RunningElsewhere | undefined {
  const path = resolve(given)
  const file = join(path, descriptionName)
  const processId = findLockHolder(join(path, lockName))
  if (processId === undefined || !existsSync(file)) return undefined
  const description = JSON.parse(readFileSync(file, 'utf8')) as DevDescription<string>
  return { processId, description, folder: { ...getPaths(path), path, temporary: false } }
}

function containsOtherFiles(path: string): boolean {
  const names = readdirSync(path).filter((name) => !name.startsWith('.'))
  return names.length > 0 && !names.some((name) => name === 'keyrail.json' || name === lockName)
}

/**
 * Opens or creates the data folder of `keyrail dev`. Only its owner can read the files.
 * A folder with the default name gets a `.gitignore`, so that nobody commits its keys.
 *
 * @param given - The folder. @default a temporary folder, removed on release
 * @param networks - The networks of the service. @default the default networks
 * @throws {CliError} if it is not a folder, is in use, contains other files, or a file in it is invalid. Nothing is changed in that case.
 */
export function openDevFolder(given: string | undefined, networks: readonly DevNetwork[] = defaultNetworks): DevFolder {
  if (given === undefined) return open(mkdtempSync(join(tmpdir(), 'keyrail-')), networks, true)
  const path = resolve(given)
  try {
    mkdirSync(path, privateFolder)
    if (basename(path) === defaultFolder) {
      const ignoreFile = join(path, '.gitignore')
      if (!existsSync(ignoreFile)) writeFileSync(ignoreFile, '*\n', privateFile)
    } else if (containsOtherFiles(path)) {
      throw new CliError(`${path} contains other files and no keyrail.json`, {
        hint: 'use a new or empty folder with --data',
      })
    }
    return open(path, networks, false)
  } catch (error) {
    if (error instanceof CliError) throw error
    // File system errors contain a path and a reason, never a file's content.
    throw new CliError(`cannot use the data folder: ${error instanceof Error ? error.message : String(error)}`, {
      hint: 'use a folder that you can write to with --data',
    })
  }
}
