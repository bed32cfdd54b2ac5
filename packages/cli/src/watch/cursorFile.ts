import { readFileSync } from 'node:fs'
import { CliError, wrongUsage } from '../cliError.ts'
import { lockFile } from '../lockFile.ts'
import type { LogFilter } from '../logs/readLogFilter.ts'
import { replaceFile } from '../logs/replaceFile.ts'
import { toFileError } from '../logs/toFileError.ts'

/** The subscription that a cursor belongs to. It must be the same to resume. */
export interface WatchSettings {
  readonly chainId: number
  /** Which logs are watched; null for blocks. */
  readonly logs: LogFilter | null
}

/** A cursor file that this process has locked. */
export interface CursorFile {
  /** The cursor of the earlier run; undefined if there was none. */
  readonly cursor: string | undefined
  /** Replaces the cursor. The file holds the old one or the new one at any time. @throws {CliError} if it cannot be written. */
  readonly save: (cursor: string) => void
  /** Releases the lock. */
  readonly release: () => void
}

interface Content extends WatchSettings {
  readonly version: 1
  readonly cursor: string
}

const option = '--cursor-file'

function readContent(file: string): Content | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw toFileError(file, error, option)
  }
  let content: Partial<Content> = {}
  try {
    content = Object(JSON.parse(text)) as Partial<Content>
  } catch {
    // Rejected below, like JSON of another shape.
  }
  if (content.version === 1 && typeof content.cursor === 'string' && typeof content.logs === 'object') {
    return content as Content
  }
  throw new CliError(`${file} is not a cursor file of keyrail watch`, { hint: `use another ${option}` })
}

function checkSettings(file: string, content: Content, settings: WatchSettings): void {
  const { chainId, logs } = content
  const hint = `use the original options to resume, or another ${option} to start over`
  if (chainId !== settings.chainId) {
    throw wrongUsage(
      `${file} is of chain ${chainId}, but this endpoint serves chain ${settings.chainId}`,
      `use an endpoint of that chain to resume, or another ${option}`,
    )
  }
  if ((logs === null) !== (settings.logs === null)) {
    throw wrongUsage(`${file} is of keyrail watch ${logs === null ? 'blocks' : 'logs'}`, hint)
  }
  if (JSON.stringify(logs) !== JSON.stringify(settings.logs)) {
    throw wrongUsage(`${file} is of logs with a different --address, --event or --topic`, hint)
  }
}

/**
 * Opens a cursor file, and locks it until it is released.
 *
 * @param file - The file. It is created by the first save.
 * @param settings - What this run watches.
 * @throws {CliError} if another process uses the file, or it belongs to something else. Nothing is changed in that case.
 */
export function openCursorFile(file: string, settings: WatchSettings): CursorFile {
  const release = lock(file)
  try {
    const content = readContent(file)
    if (content) checkSettings(file, content, settings)
    return {
      cursor: content?.cursor,
      save: (cursor) => {
        const saved: Content = { version: 1, ...settings, cursor }
        try {
          replaceFile(file, `${JSON.stringify(saved)}\n`)
        } catch (error) {
          throw toFileError(file, error, option)
        }
      },
      release,
    }
  } catch (error) {
    release()
    throw error
  }
}

function lock(file: string): () => void {
  try {
    return lockFile(`${file}.lock`, (holder) => ({
      message: `process ${holder} is using ${file}`,
      fix: 'stop it, or use another file',
    }))
  } catch (error) {
    throw toFileError(file, error, option)
  }
}
