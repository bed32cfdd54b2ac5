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
import { join, resolve } from 'node:path'
import { CliError } from '../cliError.ts'
import { lockFile } from '../lockFile.ts'
import { networks } from './devChains.ts'
import type { Network } from './devChains.ts'
import { createDevState, parseDevState } from './devState.ts'
import type { DevState } from './devState.ts'

/** Where one `keyrail dev` keeps its things. */
export interface DevFolder {
  readonly path: string
  /** Whether it goes away with the process. */
  readonly temporary: boolean
  readonly state: DevState
  /** Keeps what the state has become, in the folder and in the files of keys. */
  readonly saveState: (state: DevState) => void
  /** The service's database. */
  readonly database: string
  /** The secret under which the service seals its keys. */
  readonly secret: string
  /** Files that hold one key each and nothing else: `app`, `testnet`, `mainnet`. For `keyrail call --key-file` and shells. */
  readonly keyFiles: string
  /** The file that holds the account's password and nothing else. */
  readonly passwordFile: string
  /** The chain saved for a network, or undefined where there is none yet. */
  readonly savedChain: (network: Network) => string | undefined
  /** Where a node is to save its chain. Undefined in a temporary folder. */
  readonly nextChain: (network: Network) => string | undefined
  /** Puts what the nodes saved in place of what was there, and gives the folder free. A temporary one is removed. */
  readonly release: () => void
}

const privateFile = { mode: 0o600 } as const
const privateFolder = { recursive: true, mode: 0o700 } as const

function writeWhole(path: string, text: string): void {
  // Written beside and moved, so that a stop half-way leaves the old file or the new one, never a part.
  const beside = `${path}.${process.pid}.new`
  writeFileSync(beside, text, privateFile)
  renameSync(beside, path)
}

/** One process per folder: two would save over each other's chains. */
const lock = (path: string): (() => void) =>
  lockFile(join(path, 'lock'), (holder) => ({
    message: `the data folder ${path} is in use by process ${holder}`,
    fix: 'stop that one, or give another folder with --data',
  }))

function readState(file: string): DevState {
  const text = readFileSync(file, 'utf8')
  try {
    return parseDevState(text)
  } catch (error) {
    throw new CliError(`${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`, {
      hint: 'nothing was changed. Fix the file, or give an empty folder with --data to begin anew',
    })
  }
}

function checkChain(file: string, fallback: string | undefined): void {
  try {
    JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw new CliError(`${file} cannot be used: it is not whole JSON`, {
      hint:
        fallback === undefined
          ? 'nothing was changed. Move the file away to begin that chain anew'
          : `nothing was changed. Move the file away to go on from the chain saved before it, ${fallback}`,
    })
  }
}

function open(path: string, temporary: boolean): DevFolder {
  const unlock = lock(path)
  try {
    const stateFile = join(path, 'keyrail.json')
    const keyFiles = join(path, 'keys')
    const chain = (network: Network): string => join(path, `${network}.chain.json`)
    const next = (network: Network): string => join(path, `${network}.chain.next.json`)
    const secretFile = join(path, 'secret')
    const passwordFile = join(path, 'password')
    const known = existsSync(stateFile)
    const state = known ? readState(stateFile) : createDevState()
    // All is checked before anything is written.
    for (const network of networks) {
      const before = existsSync(chain(network)) ? chain(network) : undefined
      if (existsSync(next(network))) checkChain(next(network), before)
      else if (before !== undefined) checkChain(before, undefined)
    }
    const adopt = (): void => {
      for (const network of networks) {
        if (!existsSync(next(network))) continue
        chmodSync(next(network), privateFile.mode)
        renameSync(next(network), chain(network))
      }
    }
    // A killed process could not put them in place; its nodes saved them all the same.
    adopt()
    const saveState = (next: DevState): void => {
      const text = `${JSON.stringify(next, undefined, 2)}\n`
      if (!existsSync(stateFile) || readFileSync(stateFile, 'utf8') !== text) writeWhole(stateFile, text)
      writeWhole(passwordFile, `${next.account.password}\n`)
      mkdirSync(keyFiles, privateFolder)
      writeWhole(join(keyFiles, 'app'), `${next.app.apiKey}\n`)
      for (const network of networks) writeWhole(join(keyFiles, network), `${next.keys[network].apiKey}\n`)
    }
    saveState(state)
    if (!existsSync(secretFile)) writeWhole(secretFile, `${randomBytes(48).toString('base64url')}\n`)
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
      nextChain: (network) => (temporary ? undefined : next(network)),
      release: () => {
        if (temporary) rmSync(path, { recursive: true, force: true })
        else {
          adopt()
          unlock()
        }
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/**
 * Opens the folder of `keyrail dev`, or makes it. Files in it are for their owner alone.
 *
 * @param given - The folder of `--data`. @default a temporary folder, removed on release
 * @throws {CliError} where the folder is not a folder, is in use, holds something else, or a file in it is broken. Nothing is changed then.
 */
export function openDevFolder(given: string | undefined): DevFolder {
  if (given === undefined) return open(mkdtempSync(join(tmpdir(), 'keyrail-')), true)
  const path = resolve(given)
  try {
    mkdirSync(path, privateFolder)
    const held = readdirSync(path).filter((name) => !name.startsWith('.'))
    if (held.length > 0 && !held.some((name) => name === 'keyrail.json' || name === 'lock')) {
      throw new CliError(`${path} holds other things and no keyrail.json`, {
        hint: 'give a new or an empty folder with --data',
      })
    }
    return open(path, false)
  } catch (error) {
    if (error instanceof CliError) throw error
    // Messages of the file system hold a path and a reason, never what a file holds.
    throw new CliError(`the data folder cannot be used: ${error instanceof Error ? error.message : String(error)}`, {
      hint: 'give a folder that can be written with --data',
    })
  }
}
