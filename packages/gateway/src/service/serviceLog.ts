import type { LogEntry } from '../proxy/log.ts'
import type { ControlLogEntry } from '../control/controlOptions.ts'
import type { MeterEvent } from '../usage/metering/createMeter.ts'
import type { QuotaEvent } from '../usage/quota/quotaEvent.ts'
import type { Redact } from './redact.ts'

/** What the service tells of its work. Holds no key, no params, no upstream's address and no account's data. */
export type ServiceLogEntry =
  | LogEntry
  | {
      /** A request for a page of the dashboard was answered. */
      readonly event: 'page'
      readonly requestId: string
      readonly method: string
      readonly status: number
      readonly durationMs: number
    }
  | { readonly event: 'controlListening'; readonly port: number; readonly url: string }
  | { readonly event: 'prometheusListening'; readonly port: number }
  | {
      /** The config was read anew. */
      readonly event: 'config'
      readonly state: 'taken' | 'rejected'
      /** What was wrong with it, each with its fix. */
      readonly faults?: readonly string[]
      /** What acts only after a restart. */
      readonly needsRestart?: readonly string[]
    }
  | {
      /** `/readyz` reports 503 from now on. Requests are still accepted for `delayMs` milliseconds. */
      readonly event: 'drainDelay'
      readonly delayMs: number
    }
  | {
      readonly event: 'store'
      readonly store: 'database' | 'redis'
      readonly state: 'gone' | 'back'
      /** Why it is gone: such as `SQLite 13` (the disk is full), an SQLSTATE, or `late`. */
      readonly code?: string
    }
  | { readonly event: 'failed'; readonly where: string; readonly reason: string }
  /** The reader of the log was slow, and so many lines were dropped before this one. */
  | { readonly event: 'logDropped'; readonly lines: number }
  | ControlLogEntry
  | QuotaEvent
  | MeterEvent

/** Where log lines go. */
export interface ServiceLog {
  readonly tell: (entry: ServiceLogEntry) => void
  /** Writes what has not been written yet. */
  readonly flush: () => void
  /** How many lines were dropped, because their reader was slow. */
  readonly dropped: () => number
}

/** Where log lines go: a stream such as `process.stdout`. */
export interface LogStream {
  readonly write: (lines: string) => unknown
  /** How many bytes it has buffered, because they could not be written yet. */
  readonly writableLength: number
}

const flushMs = 100
const flushLines = 200
/** Some seconds of a busy service. */
const defaultBufferedBytes = 4 * 1024 * 1024

type Level = 'info' | 'warn' | 'error'

const levelOf = (entry: ServiceLogEntry): Level => {
  if (entry.event === 'fault' || entry.event === 'failed' || entry.event === 'controlFault') return 'error'
  if (entry.event === 'config') return entry.state === 'taken' ? 'info' : 'error'
  const doubtful =
    entry.event === 'warning' ||
    entry.event === 'logDropped' ||
    entry.event === 'quotaDegraded' ||
    entry.event === 'quotaLost' ||
    entry.event === 'meterLost' ||
    entry.event === 'meterFailed' ||
    (entry.event === 'upstream' && entry.state !== 'healthy') ||
    (entry.event === 'store' && entry.state === 'gone')
  return doubtful ? 'warn' : 'info'
}

/**
 * Makes the service's log: one line of JSON for each entry, with `time` and `level` first. Lines are written together, at most 100 ms late.
 * @param options.write - Takes whole lines. If it is a stream whose reader is slow, lines are dropped and counted rather than buffered without
 * bound; once the reader has caught up, a line says how many.
 * @param options.maxBufferedBytes - From how many bytes in the stream's buffer on lines are dropped. @default 4_194_304
 * @param options.redact - Hides what should not be there.
 * @param options.requests - Whether each request has a line; asked each time.
 * @param options.now - Milliseconds since 1970. @default Date.now
 */
export const createServiceLog = ({
  write,
  redact,
  requests = () => true,
  now = Date.now,
  maxBufferedBytes = defaultBufferedBytes,
}: {
  write: ((lines: string) => void) | LogStream
  redact: Redact
  requests?: () => boolean
  now?: () => number
  maxBufferedBytes?: number
}): ServiceLog => {
  const stream = typeof write === 'function' ? undefined : write
  const writeLines = typeof write === 'function' ? write : (text: string): void => void write.write(text)
  let lines: string[] = []
  let dropped = 0
  /** How many of them no line has reported yet. */
  let unreported = 0
  let timer: NodeJS.Timeout | undefined
  const flushSoon = (): void => {
    timer ??= setTimeout(flush, flushMs).unref()
  }
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (lines.length === 0 && unreported === 0) return
    if (stream !== undefined && stream.writableLength >= maxBufferedBytes) {
      dropped += lines.length
      unreported += lines.length
      lines = []
      // To report them once there is room, also if nothing more is logged.
      flushSoon()
      return
    }
    if (unreported > 0) lines.unshift(lineOf({ event: 'logDropped', lines: unreported }))
    const text = lines.join('')
    lines = []
    unreported = 0
    writeLines(text)
  }
  const lineOf = (entry: ServiceLogEntry, routine?: 'routine'): string => {
    const line = JSON.stringify({ time: new Date(now()).toISOString(), level: levelOf(entry), ...entry })
    return `${redact(line, routine)}\n`
  }
  return {
    dropped: () => dropped,
    tell: (entry) => {
      const { event } = entry
      const routine = event === 'request' || event === 'page' || event === 'control' || event === 'disconnected'
      if (routine && !requests()) return
      lines.push(lineOf(entry, routine ? 'routine' : undefined))
      if (lines.length >= flushLines) flush()
      else flushSoon()
    },
    flush,
  }
}
