import type { FailureKind } from '../failure/failureKind.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { CallEvent } from '../transport/call/callEvent.ts'
import type { EndFields, EventFields, TransportEvent, TransportListener, CallListener } from './transportEvent.ts'

/** A call with listeners, and the facts collected for its last event. Plain data, because one is created for each call. */
export interface ObservedCall {
  readonly call: EventFields
  readonly listeners: readonly TransportListener[]
  readonly callListeners: readonly CallListener[]
  /** The last request to each endpoint, by redacted URL: a hedged call has two at a time. Undefined if no listener wants attempts. */
  readonly lastRequests: Record<string, { readonly attempt: number; readonly batchSize: number }> | undefined
  /** Of the last endpoint that responded without a failure. */
  redactedUrl: string
  attempts: number
  queuedMs: number
  joined: boolean
  cached: boolean
  hedged: boolean
  ended: boolean
}

/**
 * Notifies listeners of the start of a call.
 *
 * @param call - The call. Its events have this redacted URL until an endpoint has responded.
 * @param listeners - The listeners of the transport.
 */
export function observeCall(call: EventFields, listeners: readonly TransportListener[]): ObservedCall {
  return {
    call,
    listeners,
    callListeners: listeners.map((listener) => listener.startCall(call)),
    lastRequests: wants(listeners, 'attempt') ? {} : undefined,
    redactedUrl: call.redactedUrl,
    attempts: 0,
    queuedMs: 0,
    joined: false,
    cached: false,
    hedged: false,
    ended: false,
  }
}

const wants = (listeners: readonly TransportListener[], type: TransportEvent['type']): boolean =>
  listeners.some((listener) => listener.wants(type))

/** Collects the facts in an internal event, and notifies the listeners of the public event that belongs to it. */
export function recordEvent(observed: ObservedCall, event: CallEvent): void {
  // A shared request can continue for other calls after this one has ended.
  if (observed.ended) return
  const { call, listeners, callListeners, lastRequests, redactedUrl, attempts } = observed
  const notify = (publicEvent: Parameters<CallListener['notify']>[0]): void => {
    for (const listener of callListeners) listener.notify(publicEvent)
  }
  switch (event.type) {
    case 'attempt':
      observed.attempts++
      if (lastRequests) lastRequests[event.redactedUrl] = { attempt: attempts + 1, batchSize: event.batchSize }
      break
    case 'attempted': {
      const { durationMs, kind } = event
      if (!kind) observed.redactedUrl = event.redactedUrl
      if (!lastRequests) break
      const { attempt = attempts, batchSize = 1 } = lastRequests[event.redactedUrl] ?? {}
      notify({ ...call, type: 'attempt', redactedUrl: event.redactedUrl, attempt, batchSize, durationMs, kind })
      break
    }
    case 'retry':
      if (wants(listeners, 'retry'))
        notify({ ...call, type: 'retry', redactedUrl, attempt: attempts, kind: event.kind, waitMs: event.waitMs })
      break
    case 'rerouted':
      if (wants(listeners, 'reroute'))
        notify({ ...call, type: 'reroute', redactedUrl: event.redactedUrl, attempt: attempts, kind: event.kind })
      break
    case 'queued':
      observed.queuedMs += event.waitMs
      break
    case 'joined':
    case 'cached':
    case 'hedged':
      observed[event.type] = true
      break
    case 'ended':
      observed.ended = true
      if (wants(listeners, event.kind ? 'failure' : 'response')) notify(createEndEvent(observed, event))
      break
  }
}

function createEndEvent(
  { call, redactedUrl, attempts, queuedMs, joined, cached, hedged }: ObservedCall,
  { durationMs, kind, failure }: { durationMs: number; kind: FailureKind | undefined; failure: unknown },
): Parameters<CallListener['notify']>[0] {
  const fields: EndFields = { ...call, redactedUrl, durationMs, attempts, queuedMs, joined, hedged }
  if (!kind) return { ...fields, type: 'response', cached }
  const { source, status, rpcError, redactedUrl: failedUrl = redactedUrl } = isKeyrailError(failure) ? failure : {}
  return { ...fields, type: 'failure', redactedUrl: failedUrl, kind, source, status, code: rpcError?.code }
}
