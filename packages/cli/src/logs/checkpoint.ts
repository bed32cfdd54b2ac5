import { readFileSync, rmSync } from 'node:fs'
import type { LogCursor } from '@keyrail/fetch'
import { CliError, wrongUsage } from '../cliError.ts'
import type { LogsRequest } from './logsRequest.ts'
import { getTemporaryFile, replaceFile } from './replaceFile.ts'
import { toFileError } from './toFileError.ts'

/** The options that must be the same to resume an export. */
export type ExportSettings = Pick<LogsRequest, 'from' | 'to' | 'address' | 'topics' | 'format'> &
  Partial<Pick<LogsRequest, 'decode'>>

/** The progress of an export: the valid part of its file, and where to resume. Contains no secret. */
export interface Checkpoint {
  readonly version: 1
  readonly settings: ExportSettings
  readonly chainId: number
  /** The range as block numbers, resolved at the start. */
  readonly fromBlock: number
  readonly toBlock: number
  /** How many bytes of the file are valid. Logs after them are read again. */
  readonly bytes: number
  readonly logs: number
  /** The SHA-256 of the last of these bytes, to detect a modified file. */
  readonly tail: string
  readonly cursor: LogCursor
}

/** Gets the settings of a request. */
export const getSettings = ({ from, to, address, topics, format, decode }: LogsRequest): ExportSettings => ({
  from,
  to,
  address,
  topics,
  format,
  decode,
})

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/**
 * Reads the checkpoint of an earlier run.
 *
 * @param file - The checkpoint file.
 * @returns The checkpoint; undefined if there is none.
 * @throws {CliError} if the file is not a checkpoint.
 */
export function readCheckpoint(file: string): Checkpoint | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw toFileError(file, error)
  }
  let checkpoint: Partial<Checkpoint> = {}
  try {
    checkpoint = Object(JSON.parse(text)) as Partial<Checkpoint>
  } catch {
    // Rejected below, like JSON of another shape.
  }
  const { version, settings, chainId, fromBlock, toBlock, bytes, logs, tail, cursor } = checkpoint
  const isValid =
    version === 1 &&
    typeof settings === 'object' &&
    typeof cursor === 'object' &&
    typeof tail === 'string' &&
    [chainId, fromBlock, toBlock, bytes, logs].every(isCount)
  if (isValid) return checkpoint as Checkpoint
  throw new CliError(`${file} is not a checkpoint of keyrail logs`, {
    hint: 'nothing was changed; use --overwrite to start over, or another --out',
  })
}

/**
 * Writes a checkpoint.
 *
 * @param file - The checkpoint file.
 * @param checkpoint - What the export's file holds on disk.
 */
export const writeCheckpoint = (file: string, checkpoint: Checkpoint): void =>
  replaceFile(file, `${JSON.stringify(checkpoint, undefined, 2)}\n`)

/** Deletes the checkpoint of a complete export, and what a killed process may have left of one. */
export function deleteCheckpoint(file: string): void {
  rmSync(file, { force: true })
  rmSync(getTemporaryFile(file), { force: true })
}

/** The option that a setting comes from. */
const getOption = (name: keyof ExportSettings): string => (name === 'topics' ? '--event or --topic' : `--${name}`)

/**
 * Checks that an export is resumed with its original settings.
 *
 * @param checkpoint - The checkpoint of the earlier run.
 * @param settings - The settings of this run.
 * @param out - The export's file, for the error.
 * @throws {CliError} exit code 2 if they differ. Names the options.
 */
export function checkSettings(checkpoint: Checkpoint, settings: ExportSettings, out: string): void {
  const names = Object.keys(settings) as (keyof ExportSettings)[]
  const changed = names.filter((name) => JSON.stringify(checkpoint.settings[name]) !== JSON.stringify(settings[name]))
  if (changed.length === 0) return
  const shown = changed.filter((name) => name === 'from' || name === 'to' || name === 'format')
  const original = shown.map((name) => `${getOption(name)} ${checkpoint.settings[name] as string | number}`).join(' ')
  throw wrongUsage(
    `${out} is an unfinished export with a different ${changed.map(getOption).join(' and ')}`,
    `use the original options${original === '' ? '' : ` (${original})`} to resume, --overwrite to start over, or another --out`,
  )
}
