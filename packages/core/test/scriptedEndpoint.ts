import { now } from '../src/clock/now.ts'
import { createFailure } from '../src/failure/createFailure.ts'
import type { FailureFacts } from '../src/failure/failureFacts.ts'
import type { Call, Send, RouteCall } from '../src/transport/call/call.ts'
import { createCall } from '../src/transport/call/createCall.ts'
import type { Endpoint } from '../src/transport/endpoint/http.ts'

/** How a call ends: with a result or a failure, after a delay in milliseconds (default 1), or never. */
export type Outcome = { readonly afterMs?: number } & (
  | { readonly result: unknown }
  | { readonly facts: FailureFacts }
  | { readonly never: true }
)

/** A call that a scripted endpoint received. */
export interface Arrival {
  readonly method: string
  readonly params: string
  readonly priority: string | undefined
  /** The time, as from `now()`. */
  readonly at: number
  /** The number of calls in flight at that time, including this one. */
  readonly open: number
  /** Set with the reason if the call was cancelled. */
  cancelled?: { readonly reason: unknown }
}

/** An endpoint in memory. A script decides how each call ends. */
export interface ScriptedEndpoint extends Endpoint {
  readonly arrivals: Arrival[]
  /** Can be replaced at any time. */
  script: (call: Call, arrival: number) => Outcome
  closed: boolean
}

/** Creates a scripted endpoint. Like real calls, its calls end asynchronously, in a timer. */
export function scriptedEndpoint(
  script: ScriptedEndpoint['script'] = () => ({ result: '0x1' }),
  redactedUrl = 'https://node.example/…',
): ScriptedEndpoint {
  const arrivals: Arrival[] = []
  let open = 0
  const send: Send = (call, complete) => {
    const arrival: Arrival = {
      method: call.method,
      params: call.params,
      priority: (call as RouteCall).options.priority,
      at: now(),
      open: ++open,
    }
    arrivals.push(arrival)
    const outcome = endpoint.script(call, arrivals.length - 1)
    let settled = false
    const end = (ok: boolean, value: unknown): void => {
      if (settled) throw new Error(`${redactedUrl} ended a call twice`)
      settled = true
      open--
      complete(ok, value)
    }
    const timer =
      'never' in outcome
        ? undefined
        : setTimeout(
            () =>
              'result' in outcome
                ? end(true, outcome.result)
                : end(false, createFailure(outcome.facts, { method: call.method, redactedUrl })),
            outcome.afterMs ?? 1,
          )
    call.cancel = (reason) => {
      if (!call.ended) throw new Error(`${redactedUrl}: set call.ended before you cancel a call`)
      clearTimeout(timer)
      arrival.cancelled = { reason }
      end(false, reason)
    }
  }
  const endpoint: ScriptedEndpoint = {
    redactedUrl,
    arrivals,
    script,
    closed: false,
    send,
    close: () => {
      endpoint.closed = true
    },
  }
  return endpoint
}

/** Creates a call record, as the transport does. */
export function newCall(method = 'eth_chainId', fields: Partial<RouteCall> = {}): RouteCall {
  return { ...createCall(method, '[]', {}), ...fields }
}

/** A call that was sent, with its outcome. */
export interface Sent {
  readonly call: RouteCall
  ok?: boolean
  value?: unknown
  /** When it completed. */
  at?: number
  /** How often it completed: 0 in flight, then 1. */
  completions: number
  readonly events: unknown[]
  /** Cancels it, as an abort does. */
  readonly end: (reason: unknown) => void
}

/** Sends a call, and records its outcome. */
export function sendDown(send: Send, method?: string, fields: Partial<RouteCall> = {}): Sent {
  const events: unknown[] = []
  const call = newCall(method, { emit: (event) => void events.push(event), ...fields })
  const sent: Sent = {
    call,
    completions: 0,
    events,
    end: (reason) => {
      call.ended = true
      call.cancel?.(reason)
    },
  }
  send(call, (ok, value) => {
    sent.ok = ok
    sent.value = value
    sent.at = now()
    sent.completions++
    call.cancel = undefined
  })
  return sent
}
