import type { LogEntry } from '../proxy/log.ts'
import type { AlertFailure } from '../alerts/alertsOptions.ts'
import type { EmailEvent } from '../email/mailer.ts'
import type { OidcEvent } from '../oidc/oidcClient.ts'
import type { ControlLogEntry } from '../control/controlOptions.ts'
import type { LimitsEvent } from '../usage/limits/usageLimits.ts'
import type { MeterEvent } from '../usage/metering/meter.ts'
import type { Redact } from './redact.ts'

/** A log entry of the service. Holds no key, no params, no upstream URL and no account data. */
export type ServiceLogEntry =
  | LogEntry
  | {
      /** The response to a request for a dashboard page is sent. */
      readonly event: 'page'
      readonly requestId: string
      readonly method: string
      readonly status: number
      readonly durationMs: number
    }
  | { readonly event: 'controlListening'; readonly port: number; readonly url: string }
  | { readonly event: 'prometheusListening'; readonly port: number }
  | {
      /** The config was reloaded. A rejected config changes nothing. */
      readonly event: 'config'
      readonly state: 'applied' | 'rejected'
      /** The faults of a rejected config, each with how to fix it. */
      readonly faults?: readonly string[]
      /** Changed members that apply after a restart. */
      readonly needsRestart?: readonly string[]
      /** Networks that the service did not have before. */
      readonly addedNetworks?: readonly string[]
      /** What to do next. */
      readonly next?: string
    }
  | {
      /** The drain delay starts: `/readyz` responds with 503, and requests are still accepted for `delayMs` milliseconds. */
      readonly event: 'drainDelay'
      readonly delayMs: number
    }
  | {
      readonly event: 'store'
      readonly store: 'database' | 'redis' | 'chainStore'
      readonly state: 'unavailable' | 'available'
      /** Why it is unavailable: for example `SQLite 13`, an SQLSTATE, `WRONGPASS`, `ECONNREFUSED` or `timeout`. */
      readonly code?: string
      /** The same in words, and what to do. */
      readonly cause?: string
    }
  | { readonly event: 'failed'; readonly where: string; readonly reason: string }
  /** The log reader was slow, so this many lines were dropped before this one. */
  | { readonly event: 'logDropped'; readonly lines: number }
  | ControlLogEntry
  | EmailEvent
  | OidcEvent
  | AlertFailure
  | LimitsEvent
  | MeterEvent

/** A log that writes JSON lines. */
export interface ServiceLog {
  readonly log: (entry: ServiceLogEntry) => void
  /** Writes all buffered lines. */
  readonly flush: () => void
  /** How many lines were dropped because the log reader was slow. */
  readonly dropped: () => number
}

/** A stream that takes log lines, such as `process.stdout`. */
export interface LogStream {
  readonly write: (lines: string) => unknown
  /** The number of bytes in its buffer. */
  readonly writableLength: number
}

const flushMs = 100
const maxBufferedLines = 200
/** A few seconds of a busy service. */
const defaultMaxBufferedBytes = 4 * 1024 * 1024

type Level = 'info' | 'warn' | 'error'

const getLevel = (entry: ServiceLogEntry): Level => {
  if (entry.event === 'fault' || entry.event === 'failed' || entry.event === 'controlFault') return 'error'
  if (entry.event === 'config') return entry.state === 'applied' ? 'info' : 'error'
  const isWarning =
    entry.event === 'warning' ||
    entry.event === 'logDropped' ||
    entry.event === 'email' ||
    (entry.event === 'oidc' && entry.state !== 'denied') ||
    entry.event === 'alertFailed' ||
    entry.event === 'quotaDegraded' ||
    entry.event === 'quotaLost' ||
    entry.event === 'meterLost' ||
    entry.event === 'meterRowsSkipped' ||
    (entry.event === 'meterFailed' && entry.state === 'started') ||
    (entry.event === 'upstream' && entry.state !== 'healthy') ||
    (entry.event === 'nodeSocket' && entry.state !== 'connected') ||
    (entry.event === 'store' && entry.state === 'unavailable')
  return isWarning ? 'warn' : 'info'
}

/**
 * Creates the service's log: one line of JSON per entry, starting with `time` and `level`. Lines are written in batches, at most 100 ms late.
 * @param options.write - Receives whole lines. If it is a stream with a slow reader, lines are dropped and counted instead of buffered without
 * bound. Once the reader has caught up, a line says how many were dropped.
 * @param options.maxBufferedBytes - Lines are dropped while the stream's buffer has this many bytes or more. @default 4_194_304
 * @param options.redact - Hides secrets in a line.
 * @param options.requests - Whether requests are logged; called for each one. @default () => true
 * @param options.now - Milliseconds since 1970. @default Date.now
 */
export const createServiceLog = ({
  write,
  redact,
  requests = () => true,
  now = Date.now,
  maxBufferedBytes = defaultMaxBufferedBytes,
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
  /** Dropped lines that no `logDropped` entry has reported. */
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
      // Reports the dropped lines later even if nothing else is logged.
      flushSoon()
      return
    }
    if (unreported > 0) lines.unshift(toLine({ event: 'logDropped', lines: unreported }))
    const text = lines.join('')
    lines = []
    unreported = 0
    writeLines(text)
  }
  const toLine = (entry: ServiceLogEntry, routine?: 'routine'): string => {
    const line = JSON.stringify({ time: new Date(now()).toISOString(), level: getLevel(entry), ...entry })
    return `${redact(line, routine)}\n`
  }
  return {
    dropped: () => dropped,
    log: (entry) => {
      const { event } = entry
      const isRoutine =
        event === 'request' ||
        event === 'webSocket' ||
        event === 'page' ||
        event === 'control' ||
        event === 'disconnected'
      if (isRoutine && !requests()) return
      lines.push(toLine(entry, isRoutine ? 'routine' : undefined))
      if (lines.length >= maxBufferedLines) flush()
      else flushSoon()
    },
    flush,
  }
}
