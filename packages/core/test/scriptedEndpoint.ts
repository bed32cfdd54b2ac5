import { now } from '../src/clock/now.ts'
import { createFailure } from '../src/failure/createFailure.ts'
import type { FailureFacts } from '../src/failure/failureFacts.ts'
import type { Call, Send } from '../src/transport/call.ts'
import { createCall } from '../src/transport/createCall.ts'
import type { Endpoint } from '../src/transport/http.ts'
import type { RouteCall } from '../src/transport/routeCall.ts'

/** How one call ends: with a result or a failure, after a time; `undefined` is never. */
export type Outcome = { readonly afterMs?: number } & (
  | { readonly result: unknown }
  | { readonly facts: FailureFacts }
  | { readonly never: true }
)

/** What came to a scripted endpoint. */
export interface Arrival {
  readonly method: string
  readonly params: string
  readonly priority: string | undefined
  /** As `now()` counts. */
  readonly at: number
  /** How many calls were under way then, this one included. */
  readonly open: number
  /** Set with the reason when it was ended from above. */
  cancelled?: { readonly reason: unknown }
}

/** An endpoint that ends each call as a script says. */
export interface ScriptedEndpoint extends Endpoint {
  readonly arrivals: Arrival[]
  /** May be replaced at any time. */
  script: (call: Call, arrival: number) => Outcome
  closed: boolean
}

/** Makes one. Calls end in a timer, never at once, as real ones do. */
export function scriptedEndpoint(
  script: ScriptedEndpoint['script'] = () => ({ result: '0x1' }),
  redactedUrl = 'https://node.example/…',
): ScriptedEndpoint {
  const arrivals: Arrival[] = []
  let open = 0
  const send: Send = (call, settle) => {
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
      settle(ok, value)
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
      if (!call.ended) throw new Error(`${redactedUrl}: who cancels a call says first that it has ended`)
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

/** A call record such as the door makes. */
export function newCall(method = 'eth_chainId', fields: Partial<RouteCall> = {}): RouteCall {
  return { ...createCall(method, '[]', {}), ...fields }
}

/** What became of a call. */
export interface Sent {
  readonly call: RouteCall
  ok?: boolean
  value?: unknown
  /** When it settled. */
  at?: number
  /** How often it settled: 1 once it is over. */
  settled: number
  readonly events: unknown[]
  /** Ends it from above, as an abort does. */
  readonly end: (reason: unknown) => void
}

/** Sends a call down, and keeps how it ends. */
export function sendDown(send: Send, method?: string, fields: Partial<RouteCall> = {}): Sent {
  const events: unknown[] = []
  const call = newCall(method, { note: (event) => void events.push(event), ...fields })
  const sent: Sent = {
    call,
    settled: 0,
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
    sent.settled++
    call.cancel = undefined
  })
  return sent
}
