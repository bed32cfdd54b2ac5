import type { FailureKind, RpcErrorObject } from '@keyrail/core'
import type { ReceivedCall } from '../receivedCall.ts'
import { RejectedCall } from '../faults/rejectedCall.ts'
import { badGateway, providerError, providers, serviceError } from '../faults/providers.ts'
import type { ProviderError, ProviderName } from '../faults/providers.ts'
import { faultName } from '../faults/fault.ts'
import type { Fault, FaultKind, FaultResponse } from '../faults/fault.ts'
import type { FaultPlan } from '../faults/faultPlan.ts'
import { toJson } from '../rpc/jsonText.ts'
import { RpcError } from '../rpc/rpcError.ts'
import type { Subscriptions } from '../socket/subscriptions.ts'
import type { MatchedEndpoint } from './matchEndpoint.ts'

/**
 * Runs a call.
 * @param more.fault - Set if it changes the node's data rather than the response.
 * @param more.subscriptions - Those of the WebSocket connection; `undefined` over HTTP.
 */
export type RunCall = (
  method: string,
  params: readonly unknown[],
  more: { readonly fault: Fault | undefined; readonly subscriptions: Subscriptions | undefined },
) => unknown

/** Responds to a request, or to a message of a WebSocket connection that was accepted. */
export type HandleRequest = (request: Request, subscriptions?: Subscriptions) => Promise<Response>

/** The parts of a mock node that the request handler needs. */
export interface RequestContext {
  readonly endpoints: readonly MatchedEndpoint[]
  readonly plan: FaultPlan
  readonly provider: () => ProviderName
  readonly maxBatch: () => number
  readonly run: RunCall
  readonly recordCall: (call: ReceivedCall) => void
  /** Waits until the faults are cleared, the node is reset or the client aborts. */
  readonly hang: (signal: AbortSignal) => Promise<void>
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
  readonly valid: boolean
}

/** The response to one call, before serialization. */
interface CallResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The result as JSON. */
  readonly result?: string
  readonly error?: unknown
  /** A plain text body, instead of a result or an error. */
  readonly text?: string
}

/** An id that no client uses. */
const unknownId = 1_000_000_000

const isJson = (type: string | null): boolean =>
  type === null || /^application\/json(-rpc|request)?\s*(;|$)/i.test(type)

/** Whether a thrown value is a JSON-RPC error, thrown by the node or by a handler of the test. */
const isRpcError = (error: unknown): error is RpcErrorObject =>
  typeof (error as RpcErrorObject | undefined)?.code === 'number'

function parseCall(given: unknown): Call {
  const { id = null, method, params = [] } = Object(given) as { id?: unknown; method?: unknown; params?: unknown }
  const valid = typeof method === 'string' && Array.isArray(params)
  return { id, method: valid ? method : '', params: valid ? (params as unknown[]) : [], valid }
}

/** The error response of a provider to one call, with the changes that the options of the fault make. */
function toCallResponse(
  { status, headers, text, error }: ProviderError,
  { method }: Call,
  fault?: Fault,
): CallResponse {
  if (error === undefined) return { status, headers: addRetryAfter(headers, fault), text: text ?? '' }
  const {
    message = error.message.replace('$METHOD', () => method),
    data = error.data,
    retryAfterMs,
  } = fault?.options ?? {}
  const hasDelay = retryAfterMs !== undefined && Object(data) === data && 'retryAfterMs' in (data as object)
  return {
    status,
    headers: addRetryAfter(headers, fault),
    error: {
      code: error.code,
      message,
      ...(data !== undefined && { data: hasDelay ? { ...(data as object), retryAfterMs } : data }),
    },
  }
}

function addRetryAfter(headers: CallResponse['headers'], fault: Fault | undefined): CallResponse['headers'] {
  const { retryAfterMs } = fault?.options ?? {}
  return retryAfterMs === undefined ? headers : { ...headers, 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }
}

/** Serializes the response to one call. An undefined id is left out. */
function serialize({ result, error, text }: CallResponse, id: unknown): string {
  if (text !== undefined) return text
  const head = id === undefined ? '{"jsonrpc":"2.0"' : `{"jsonrpc":"2.0","id":${JSON.stringify(id)}`
  return result === undefined ? `${head},"error":${JSON.stringify(error)}}` : `${head},"result":${result}}`
}

/** Serializes a custom body. Each id 1 is replaced by the id of the call. */
function serializeCustomBody(body: unknown, id: unknown): string {
  if (typeof body === 'string') return body.replace(/"id":1\b/, () => `"id":${JSON.stringify(id)}`)
  return JSON.stringify(body, (name, value: unknown) => {
    if (name !== 'id') return value
    if (typeof value === 'string') return value === '1' ? String(id) : value
    return typeof value !== 'number' ? value : value === 1 ? id : unknownId + value
  })
}

function respond(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Response {
  const type = /^\s*[[{]/.test(body) ? 'application/json' : body.startsWith('<') ? 'text/html' : 'text/plain'
  // The Response constructor rejects a body, even an empty one, for these statuses.
  return new Response([204, 205, 304].includes(status) ? null : body, {
    status,
    headers: { 'content-type': type, ...headers },
  })
}

/**
 * Creates the function that responds to HTTP requests as a provider does, with the scheduled faults.
 *
 * @returns a function that never throws: every failure is a response or a network error.
 */
export function createRequestHandler(node: RequestContext): HandleRequest {
  const { plan, recordCall } = node
  const noCall: Call = { id: null, method: '', params: [], valid: false }

  const reject = (error: ProviderError | undefined): Response => {
    const { status, headers, ...rest } = toCallResponse(error ?? { status: 400, text: '' }, noCall)
    return respond(status, serialize({ status, ...rest }, null), headers)
  }

  const runCall = async (call: Call, batch: boolean, more: Parameters<RunCall>[2]): Promise<CallResponse> => {
    const { fault } = more
    const { method, params } = call
    if (!call.valid) return toCallResponse(providerError(node.provider(), 'invalidRequest') as ProviderError, call)
    const name = fault && faultName(fault)
    const replacement = fault && getProviderError(fault)
    if (replacement !== undefined) {
      recordCall({ method, params, batch, outcome: 'fault', fault: name as string })
      return toCallResponse(replacement, call, fault)
    }
    try {
      const result = toJson(await node.run(method, params, more))
      recordCall({
        method,
        params,
        batch,
        ...(name === undefined ? { outcome: 'result' } : { outcome: 'fault', fault: name }),
      })
      return { status: 200, result }
    } catch (thrown) {
      const { code, message, data } = isRpcError(thrown)
        ? thrown
        : new RpcError(-32_603, `Internal error: ${(thrown as Error).message}`)
      const error = { code, message, ...(data !== undefined && { data }) }
      recordCall({ method, params, batch, outcome: 'error', error })
      return { status: thrown instanceof RejectedCall ? thrown.status : 200, error }
    }
  }

  /** The provider's error response for a fault; undefined if the fault is not an error response. */
  const getProviderError = ({ kind, options }: Fault): ProviderError | undefined =>
    typeof kind === 'string'
      ? providerError(options.provider ?? node.provider(), kind as FailureKind, options.status)
      : undefined

  /** Responds to the whole request if a fault requires that; undefined if the fault concerns one call only. */
  const failRequest = (
    fault: Fault,
    calls: readonly Call[],
    { request, batch }: { readonly request: Request; readonly batch: boolean },
  ): (() => Response | Promise<Response>) | undefined => {
    const { kind, options } = fault
    if (typeof kind !== 'string') return () => respondWithCustomBody(kind, calls, batch)
    if (
      kind === 'network' ||
      (kind === 'unconfirmed' && calls.some(({ method }) => method === 'eth_sendRawTransaction'))
    ) {
      return () => Response.error()
    }
    if (kind === 'hang') return () => node.hang(request.signal).then(() => Response.error())
    if (kind === 'empty') return () => respond(options.status ?? 200, '')
    if (kind === 'htmlPage') return () => respond(options.status ?? 502, badGateway)
    const error = getProviderError(fault)
    if (error?.rejectsWholeRequest !== true) return undefined
    const { status, headers, ...rest } = toCallResponse(error, calls[0] ?? noCall, fault)
    return () => respond(status, serialize({ status, ...rest }, null), headers)
  }

  const respondWithCustomBody = (response: FaultResponse, calls: readonly Call[], batch: boolean): Response => {
    const { status, headers, body } = response
    const isSingle = Object(body) === body && (body as { readonly id?: unknown }).id === 1
    const text =
      batch && isSingle
        ? `[${calls.map(({ id }) => serializeCustomBody(body, id)).join()}]`
        : serializeCustomBody(body, calls[0]?.id)
    return respond(status, text, headers)
  }

  const checkRequest = async (request: Request): Promise<Response | undefined> => {
    const provider = node.provider()
    if (request.method !== 'POST') {
      return reject(
        provider === 'keyrail'
          ? providerError('keyrail', 'invalidRequest', 405)
          : { status: 405, text: 'Method Not Allowed' },
      )
    }
    // Keyrail's gateway and bare nodes require this content type; the other providers accept any.
    if ((provider === 'keyrail' || provider === 'node') && !isJson(request.headers.get('content-type'))) {
      return reject(providerError(provider, 'invalidRequest', 415))
    }
    let rejection: ProviderError | undefined
    for (const endpoint of node.endpoints.filter(({ matches }) => matches(request.url))) {
      const problem = await endpoint.checkRequest(request, node.provider())
      if (problem === undefined) {
        rejection = undefined
        break
      }
      rejection ??= problem
    }
    return rejection && reject(rejection)
  }

  return async (request, subscriptions) => {
    const rejected = subscriptions === undefined ? await checkRequest(request) : undefined
    if (rejected !== undefined) return rejected

    let parsed: unknown
    try {
      parsed = JSON.parse(await request.text())
    } catch {
      return reject(serviceError(400, -32_700, 'Parse error', 'parse_error'))
    }
    const batch = Array.isArray(parsed)
    const calls = (batch ? (parsed as unknown[]) : [parsed]).map(parseCall)
    if (batch && calls.length === 0) return reject(providerError(node.provider(), 'invalidRequest'))
    if (batch && calls.length > node.maxBatch()) {
      const template = providerError(node.provider(), 'batchTooLarge') as ProviderError
      const error: ProviderError =
        template.error === undefined
          ? template
          : {
              ...template,
              error: {
                ...template.error,
                message: template.error.message
                  .replace('1001 > ', `${calls.length} > `)
                  .replace(/(?<=(> |at most |more than ))\d+/, String(node.maxBatch())),
              },
            }
      if (error.rejectsWholeRequest) return reject(error)
      return respond(200, `[${calls.map((call) => serialize(toCallResponse(error, call), call.id)).join()}]`)
    }

    const faults = calls.map(({ method, valid }) => (valid ? plan.take(method, batch) : undefined))
    for (const fault of faults) {
      if (fault?.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.options.delayMs ?? 1_000))
    }
    for (const fault of faults) {
      const fail = fault && failRequest(fault, calls, { request, batch })
      if (fail === undefined) continue
      for (const { method, params } of calls)
        recordCall({ method, params, batch, outcome: 'fault', fault: faultName(fault as Fault) })
      return fail()
    }

    const responses: CallResponse[] = []
    // In order: a call may read what an earlier call of the batch sent.
    for (const [index, call] of calls.entries())
      responses.push(await runCall(call, batch, { fault: faults[index], subscriptions }))
    const ids = calls.map((call, index): unknown => responseId(call, faults[index], calls[(index + 1) % calls.length]))
    const has = (kind: Fault['kind']): boolean => faults.some((fault) => fault?.kind === kind)
    const texts = responses
      .map((response, index) => serialize(response, ids[index]))
      .filter((_, index) => faults[index]?.kind !== 'missingResponse')
    if (batch && (has('shuffled') || providers[node.provider()].reversesBatches)) texts.reverse()
    const text = batch ? `[${texts.join()}]` : (texts[0] ?? '')
    const [only] = responses
    const isTruncated = has('truncated') || has('badResponse')
    return respond(
      batch || only === undefined ? 200 : only.status,
      isTruncated ? text.slice(0, Math.ceil(text.length / 2)) : text,
      batch ? undefined : only?.headers,
    )
  }
}

/** The id of a response: that of the call unless a fault replaces it. */
function responseId({ id }: Call, fault: Fault | undefined, next: Call | undefined): unknown {
  const replacements: Readonly<Partial<Record<FaultKind, unknown>>> = {
    wrongId: unknownId,
    stringId: String(id),
    nullId: null,
    missingId: undefined,
    duplicateId: next?.id,
  }
  const kind = fault?.kind as FaultKind
  return Object.hasOwn(replacements, kind) ? replacements[kind] : id
}
