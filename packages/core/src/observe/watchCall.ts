import type { FailureKind } from '../failure/failureKind.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { CallEvent } from '../transport/callEvent.ts'
import type { EndFields, EventFields, RequestEvent, TransportEvent, Watch } from './transportEvent.ts'

/** One call that somebody is told of. */
export interface WatchedCall {
  /** Runs what carries the call. */
  readonly within: (run: () => void) => void
  readonly note: (event: CallEvent) => void
  /** `kind` is undefined where the call was answered. */
  readonly settled: (kind: FailureKind | undefined, value: unknown, durationMs: number) => void
}

/**
 * Makes events for listeners of what layers note of one call.
 *
 * @param call - Which call; its label stands until an endpoint has answered.
 * @param watches - The listeners.
 */
export function watchCall(call: EventFields, watches: readonly Watch[]): WatchedCall {
  const request: RequestEvent = { type: 'request', ...call }
  const watchers = watches.map((watch) => watch.begin(request))
  const tell = (event: Exclude<TransportEvent, RequestEvent>): void => {
    for (const watcher of watchers) watcher.tell(event)
  }

  /** The last request to each endpoint: two are under way where one is hedged. */
  const sent: Record<string, { readonly attempt: number; readonly batchSize: number }> = {}
  let { label } = call
  let attempts = 0
  let queuedMs = 0
  let joined = false
  let cached = false
  let hedged = false
  let over = false

  const note = (event: CallEvent): void => {
    // Of what goes on for others, or ends late.
    if (over) return
    switch (event.type) {
      case 'attempt':
        sent[event.label] = { attempt: ++attempts, batchSize: event.batchSize }
        break
      case 'attempted': {
        const { durationMs, kind } = event
        if (!kind) label = event.label
        const { attempt = attempts, batchSize = 1 } = sent[event.label] ?? {}
        tell({ ...call, type: 'attempt', label: event.label, attempt, batchSize, durationMs, kind })
        break
      }
      case 'retry':
        tell({ ...call, type: 'retry', label, attempt: attempts, kind: event.kind, waitMs: event.waitMs })
        break
      case 'rerouted':
        tell({ ...call, type: 'reroute', label: event.label, attempt: attempts, kind: event.kind })
        break
      case 'queued':
        queuedMs += event.waitMs
        break
      case 'joined':
        joined = true
        break
      case 'cached':
        cached = true
        break
      case 'hedged':
        hedged = true
        break
    }
  }

  const within = watchers.find((watcher) => watcher.within)?.within
  return {
    note,
    within: (run) => (within ? within(run) : run()),
    settled: (kind, value, durationMs) => {
      over = true
      const end: EndFields = { ...call, label, durationMs, attempts, queuedMs, joined, hedged }
      if (!kind) return tell({ ...end, type: 'response', cached })
      const { source, status, rpcError, label: failed = label } = isKeyrailError(value) ? value : {}
      return tell({ ...end, type: 'failure', label: failed, kind, source, status, code: rpcError?.code })
    },
  }
}
