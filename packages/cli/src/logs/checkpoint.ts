import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import type { LogCursor } from '@keyrail/fetch'
import { CliError, wrongUsage } from '../cliError.ts'
import { toFileError } from './toFileError.ts'
import type { LogsRequest } from './logsRequest.ts'

/** What makes two exports the same one. */
export type ExportSettings = Pick<LogsRequest, 'from' | 'to' | 'address' | 'topics' | 'format'>

/** How far an export has come: what its file holds, and where to go on. Holds no secret. */
export interface Checkpoint {
  readonly version: 1
  readonly settings: ExportSettings
  readonly chainId: number
  /** The ends as they were found at the start. */
  readonly fromBlock: number
  readonly toBlock: number
  /** So many bytes of the file count; what stands behind them is read again. */
  readonly bytes: number
  readonly logs: number
  /** The SHA-256 of the last of these bytes, by which another file is noticed. */
  readonly tail: string
  readonly cursor: LogCursor
}

/** The settings of what is asked for. */
export const getSettings = ({ from, to, address, topics, format }: LogsRequest): ExportSettings => ({
  from,
  to,
  address,
  topics,
  format,
})

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/**
 * Reads what an earlier run kept.
 *
 * @param file - The cursor's file.
 * @returns Undefined where there is none.
 * @throws {CliError} where it is not what `writeCheckpoint` wrote.
 */
export function readCheckpoint(file: string): Checkpoint | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw toFileError(file, error)
  }
  let saved: Partial<Checkpoint> = {}
  try {
    saved = Object(JSON.parse(text)) as Partial<Checkpoint>
  } catch {
    // Said below, as for JSON of another shape.
  }
  const { version, settings, chainId, fromBlock, toBlock, bytes, logs, tail, cursor } = saved
  const right =
    version === 1 &&
    typeof settings === 'object' &&
    typeof cursor === 'object' &&
    typeof tail === 'string' &&
    [chainId, fromBlock, toBlock, bytes, logs].every(isWhole)
  if (right) return saved as Checkpoint
  throw new CliError(`${file} is not what keyrail logs keeps there`, {
    hint: 'nothing was changed. --overwrite begins the export anew; another --out leaves this one alone',
  })
}

const besideOf = (file: string): string => `${file}.new`

/**
 * Keeps how far an export has come. Written beside and moved, so that a stop half-way leaves the old one or the new one.
 *
 * @param file - The cursor's file.
 * @param saved - What the export's file holds on the disk by now.
 */
export function writeCheckpoint(file: string, saved: Checkpoint): void {
  const beside = besideOf(file)
  const open = openSync(beside, 'w')
  try {
    writeSync(open, `${JSON.stringify(saved, undefined, 2)}\n`)
    fsyncSync(open)
  } finally {
    closeSync(open)
  }
  renameSync(beside, file)
}

/** Forgets it: the export is whole. A killed process may have left what it was about to keep. */
export function deleteCheckpoint(file: string): void {
  rmSync(file, { force: true })
  rmSync(besideOf(file), { force: true })
}

/** What an export's settings are called on the command line. */
const optionOf = (name: keyof ExportSettings): string => (name === 'topics' ? '--event or a --topic' : `--${name}`)

/**
 * Sees to it that an export goes on as it began.
 *
 * @param saved - What the earlier run kept.
 * @param settings - What is asked for now.
 * @param out - The export's file, for the error.
 * @throws {CliError} exit code 2, naming what differs.
 */
export function checkSettings(saved: Checkpoint, settings: ExportSettings, out: string): void {
  const names = Object.keys(settings) as (keyof ExportSettings)[]
  const differing = names.filter((name) => JSON.stringify(saved.settings[name]) !== JSON.stringify(settings[name]))
  if (differing.length === 0) return
  const kept = differing.filter((name) => name === 'from' || name === 'to' || name === 'format')
  const before = kept.map((name) => `${optionOf(name)} ${saved.settings[name] as string | number}`).join(' ')
  throw wrongUsage(
    `${out} is an export that is not finished, and it was begun with another ${differing.map(optionOf).join(' and another ')}`,
    `${before === '' ? 'give what it was begun with' : `give what it was begun with (${before})`} to go on with it; or --overwrite to begin anew; or another --out`,
  )
}
