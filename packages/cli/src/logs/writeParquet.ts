import { createReadStream, closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { createParquetColumns } from './parquetColumns.ts'
import type { LogLine, ParquetColumns } from './parquetColumns.ts'
import { getTemporaryFile } from './replaceFile.ts'
import { toFileError } from './toFileError.ts'

/** A complete Parquet file. */
export interface ParquetResult {
  /** How many logs are not of the decoded event, and not in the file. */
  readonly skipped: number
  /** How many logs in the file have a parameter that cannot be decoded. */
  readonly undecoded: number
  /** Its size. */
  readonly bytes: number
}

/** The rows of a row group, which is in memory as a whole. The default of the Python package. */
const rowGroupSize = 20_000

async function* readRows(
  source: string,
  { toRow, isUndecoded }: ParquetColumns,
  {
    signal,
    onSkipped,
    onUndecoded,
  }: { readonly signal: AbortSignal; readonly onSkipped: () => void; readonly onUndecoded: () => void },
): AsyncGenerator<Record<string, unknown>, void, undefined> {
  for await (const line of createInterface({ input: createReadStream(source, 'latin1') })) {
    signal.throwIfAborted()
    const row = toRow(JSON.parse(line) as LogLine)
    if (row === undefined) {
      onSkipped()
      continue
    }
    if (isUndecoded(row)) onUndecoded()
    yield row
  }
}

/**
 * Converts a file of logs from NDJSON to Parquet. The Parquet file appears only when it is complete.
 *
 * @param source - The NDJSON file.
 * @param out - The Parquet file. An existing one is replaced.
 * @param settings - `decode`: the event whose parameters are the columns. `signal`: aborts the conversion.
 * @throws {CliError} if the file cannot be written.
 * @throws The signal's reason if aborted.
 */
export async function writeParquet(
  source: string,
  out: string,
  { decode, signal }: { readonly decode: string | undefined; readonly signal: AbortSignal },
): Promise<ParquetResult> {
  const { fileWriter, parquetWriteRows } = await import('hyparquet-writer')
  const columns = createParquetColumns(decode)
  const temporary = getTemporaryFile(out)
  let skipped = 0
  let undecoded = 0
  const rows = readRows(source, columns, { signal, onSkipped: () => skipped++, onUndecoded: () => undecoded++ })
  const { schema, names } = columns
  try {
    const writer = fileWriter(temporary)
    const fields = names.map((name) => ({ name }))
    await parquetWriteRows({ writer, rows, columns: fields, schema, rowGroupSize, createdBy: 'keyrail' })
    const file = openSync(temporary, 'r+')
    try {
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, out)
    return { skipped, undecoded, bytes: statSync(out).size }
  } catch (error) {
    rmSync(temporary, { force: true })
    throw toFileError(out, error)
  }
}
