import type { FailureKind } from '../failure/failureKind.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { CallEvent } from '../transport/callEvent.ts'
import type { EndFields, EventFields, TransportEvent, Watch, Watcher } from './transportEvent.ts'

/** One call that somebody is told of, and what is known of it so far. Plain data, because one is made for each call. */
export interface WatchedCall {
  readonly call: EventFields
  readonly watches: readonly Watch[]
  readonly watchers: readonly Watcher[]
  /** The last request to each endpoint: two are under way where one is hedged. Undefined where nobody asks for attempts. */
  readonly sent: Record<string, { readonly attempt: number; readonly batchSize: number }> | undefined
  /** Of the endpoint that answered last. */
  redactedUrl: string
  attempts: number
  queuedMs: number
  joined: boolean
  cached: boolean
  hedged: boolean
  over: boolean
}

/**
 * Tells listeners that a call begins.
 *
 * @param call - Which call; its redacted URL stands until an endpoint has answered.
 * @param watches - The listeners.
 */
export function watchCall(call: EventFields, watches: readonly Watch[]): WatchedCall {
  return {
    call,
    watches,
    watchers: watches.map((watch) => watch.begin(call)),
    sent: wants(watches, 'attempt') ? {} : undefined,
    redactedUrl: call.redactedUrl,
    attempts: 0,
    queuedMs: 0,
    joined: false,
    cached: false,
    hedged: false,
    over: false,
  }
}

const wants = (watches: readonly Watch[], type: TransportEvent['type']): boolean =>
  watches.some((watch) => watch.wants(type))

/** Makes events for the listeners of what layers note of a call. */
export function noteCall(watched: WatchedCall, event: CallEvent): void {
  // Of what goes on for others, or ends late.
  if (watched.over) return
  const { call, watches, watchers, sent, redactedUrl, attempts } = watched
  const tell = (told: Parameters<Watcher['tell']>[0]): void => {
    for (const watcher of watchers) watcher.tell(told)
  }
  switch (event.type) {
    case 'attempt':
      watched.attempts++
      if (sent) sent[event.redactedUrl] = { attempt: attempts + 1, batchSize: event.batchSize }
      break
    case 'attempted': {
      const { durationMs, kind } = event
      if (!kind) watched.redactedUrl = event.redactedUrl
      if (!sent) break
      const { attempt = attempts, batchSize = 1 } = sent[event.redactedUrl] ?? {}
      tell({ ...call, type: 'attempt', redactedUrl: event.redactedUrl, attempt, batchSize, durationMs, kind })
      break
    }
    case 'retry':
      if (wants(watches, 'retry'))
        tell({ ...call, type: 'retry', redactedUrl, attempt: attempts, kind: event.kind, waitMs: event.waitMs })
      break
    case 'rerouted':
      if (wants(watches, 'reroute'))
        tell({ ...call, type: 'reroute', redactedUrl: event.redactedUrl, attempt: attempts, kind: event.kind })
      break
    case 'queued':
      watched.queuedMs += event.waitMs
      break
    case 'joined':
    case 'cached':
    case 'hedged':
      watched[event.type] = true
      break
    case 'ended':
      watched.over = true
      if (wants(watches, event.kind ? 'failure' : 'response')) tell(endEvent(watched, event))
      break
  }
}

function endEvent(
  { call, redactedUrl, attempts, queuedMs, joined, cached, hedged }: WatchedCall,
  { durationMs, kind, failure }: { durationMs: number; kind: FailureKind | undefined; failure: unknown },
): Parameters<Watcher['tell']>[0] {
  const fields: EndFields = { ...call, redactedUrl, durationMs, attempts, queuedMs, joined, hedged }
  if (!kind) return { ...fields, type: 'response', cached }
  const { source, status, rpcError, redactedUrl: failed = redactedUrl } = isKeyrailError(failure) ? failure : {}
  return { ...fields, type: 'failure', redactedUrl: failed, kind, source, status, code: rpcError?.code }
}
