import type { LogEntry } from '../log.ts'
import type { ControlLogEntry } from '../control/controlOptions.ts'
import type { MeterEvent } from '../meter/createMeter.ts'
import type { QuotaEvent } from '../quota/quotaEvent.ts'
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
      readonly state: 'taken' | 'refused'
      /** What was wrong with it, each with its mend. */
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
  | ControlLogEntry
  | QuotaEvent
  | MeterEvent

/** Where log lines go. */
export interface ServiceLog {
  readonly tell: (entry: ServiceLogEntry) => void
  /** Writes what has not been written yet. */
  readonly flush: () => void
}

const flushMs = 100
const flushLines = 200

type Level = 'info' | 'warn' | 'error'

const levelOf = (entry: ServiceLogEntry): Level => {
  if (entry.event === 'fault' || entry.event === 'failed' || entry.event === 'controlFault') return 'error'
  if (entry.event === 'config') return entry.state === 'taken' ? 'info' : 'error'
  const doubtful =
    entry.event === 'warning' ||
    entry.event === 'quotaOutage' ||
    entry.event === 'quotaLost' ||
    entry.event === 'meterLost' ||
    entry.event === 'meterFailed' ||
    (entry.event === 'upstream' && entry.state !== 'healthy') ||
    (entry.event === 'store' && entry.state === 'gone')
  return doubtful ? 'warn' : 'info'
}

/**
 * Makes the service's log: one line of JSON for each entry, with `time` and `level` first. Lines are written together, at most 100 ms late.
 * @param options.write - Takes whole lines.
 * @param options.redact - Hides what should not be there.
 * @param options.requests - Whether each request has a line; asked each time.
 * @param options.now - Milliseconds since 1970. @default Date.now
 */
export const createServiceLog = ({
  write,
  redact,
  requests = () => true,
  now = Date.now,
}: {
  write: (lines: string) => void
  redact: Redact
  requests?: () => boolean
  now?: () => number
}): ServiceLog => {
  let lines: string[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (lines.length === 0) return
    const text = lines.join('')
    lines = []
    write(redact(text))
  }
  return {
    tell: (entry) => {
      const { event } = entry
      if ((event === 'request' || event === 'page' || event === 'control' || event === 'disconnected') && !requests())
        return
      lines.push(`${JSON.stringify({ time: new Date(now()).toISOString(), level: levelOf(entry), ...entry })}\n`)
      if (lines.length >= flushLines) flush()
      else timer ??= setTimeout(flush, flushMs).unref()
    },
    flush,
  }
}
