import type { FailureKind, RpcErrorObject } from '@keyrail/core'
import type { SeenCall } from '../calls.ts'
import { RefusedCall } from '../faults/refusedCall.ts'
import { badGateway, dialectAnswer, dialects, service } from '../faults/dialects.ts'
import type { DialectAnswer, Personality } from '../faults/dialects.ts'
import { faultName } from '../faults/fault.ts'
import type { Fault, FaultAnswer, FaultKind, Misbehaviour } from '../faults/fault.ts'
import type { FaultPlan } from '../faults/faultPlan.ts'
import { toJson } from '../rpc/jsonText.ts'
import { RpcFailure } from '../rpc/rpcFailure.ts'
import type { MatchedAddress } from './matchAddress.ts'

/** What is needed to answer. */
export interface Answering {
  readonly addresses: readonly MatchedAddress[]
  readonly plan: FaultPlan
  readonly personality: () => Personality
  readonly maxBatch: () => number
  /** Runs a call; `fault` is one that changes what the node knows and not how it answers. */
  readonly run: (method: string, params: readonly unknown[], fault: Fault | undefined) => unknown
  readonly see: (call: SeenCall) => void
  /** Waits until the node is healed or reset, or who asked has gone. */
  readonly hang: (signal: AbortSignal) => Promise<void>
}

interface Item {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
  readonly valid: boolean
}

/** The answer to one call, before it is written. */
interface Answered {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The text of its result. */
  readonly result?: string
  readonly error?: unknown
  /** The whole text, where there is neither. */
  readonly text?: string
}

/** Far from any id that is in use. */
const foreign = 1_000_000_000

const isJson = (type: string | null): boolean =>
  type === null || /^application\/json(-rpc|request)?\s*(;|$)/i.test(type)

/** Whether what was thrown is an error as JSON-RPC has it: of the node itself, or of a handler that a test gave. */
const isRpcError = (error: unknown): error is RpcErrorObject =>
  typeof (error as RpcErrorObject | undefined)?.code === 'number'

function itemOf(given: unknown): Item {
  const { id = null, method, params = [] } = Object(given) as { id?: unknown; method?: unknown; params?: unknown }
  const valid = typeof method === 'string' && Array.isArray(params)
  return { id, method: valid ? method : '', params: valid ? (params as unknown[]) : [], valid }
}

/** A dialect's answer as it is said of one call, with what the fault changes about it. */
function worded({ status, headers, text, error }: DialectAnswer, { method }: Item, fault?: Fault): Answered {
  if (error === undefined) return { status, headers: withWait(headers, fault), text: text ?? '' }
  const {
    message = error.message.replace('$METHOD', () => method),
    data = error.data,
    retryAfterMs,
  } = fault?.options ?? {}
  const told = retryAfterMs !== undefined && Object(data) === data && 'retryAfterMs' in (data as object)
  return {
    status,
    headers: withWait(headers, fault),
    error: {
      code: error.code,
      message,
      ...(data !== undefined && { data: told ? { ...(data as object), retryAfterMs } : data }),
    },
  }
}

function withWait(headers: Answered['headers'], fault: Fault | undefined): Answered['headers'] {
  const { retryAfterMs } = fault?.options ?? {}
  return retryAfterMs === undefined ? headers : { ...headers, 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }
}

/** Writes an answer to one call. The id is written as JSON, or left out where it is undefined. */
function write({ result, error, text }: Answered, id: unknown): string {
  if (text !== undefined) return text
  const head = id === undefined ? '{"jsonrpc":"2.0"' : `{"jsonrpc":"2.0","id":${JSON.stringify(id)}`
  return result === undefined ? `${head},"error":${JSON.stringify(error)}}` : `${head},"result":${result}}`
}

/** Writes an answer that a test gave word by word, with the id of the call in place of 1. */
function writeGiven(body: unknown, id: unknown): string {
  if (typeof body === 'string') return body.replace(/"id":1\b/, () => `"id":${JSON.stringify(id)}`)
  return JSON.stringify(body, (name, value: unknown) => {
    if (name !== 'id') return value
    if (typeof value === 'string') return String(id)
    return typeof value !== 'number' ? value : value === 1 ? id : foreign + value
  })
}

function respond(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Response {
  const type = /^\s*[[{]/.test(body) ? 'application/json' : body.startsWith('<') ? 'text/html' : 'text/plain'
  // Statuses without a body take none, not even an empty one.
  return new Response([204, 205, 304].includes(status) ? null : body, {
    status,
    headers: { 'content-type': type, ...headers },
  })
}

/**
 * Answers requests at the addresses of a node: as a service does, from the method of HTTP down to the single call, with the faults that were wanted.
 *
 * @returns Never throws: what goes wrong is an answer, or a broken connection.
 */
export function createAnswerer(node: Answering): (request: Request) => Promise<Response> {
  const { plan, see } = node
  const nobody: Item = { id: null, method: '', params: [], valid: false }

  const refuse = (answer: DialectAnswer | undefined, item: Item = nobody): Response => {
    const { status, headers, ...rest } = worded(answer ?? { status: 400, text: '' }, item)
    return respond(status, write({ status, ...rest }, item.id), headers)
  }
  const refuseAs = (kind: FailureKind, item?: Item): Response => refuse(dialectAnswer(node.personality(), kind), item)

  const answerCall = async (item: Item, batch: boolean, fault: Fault | undefined): Promise<Answered> => {
    const { method, params } = item
    if (!item.valid) return worded(dialectAnswer(node.personality(), 'invalidRequest') as DialectAnswer, item)
    const name = fault && faultName(fault)
    const replaced = fault && answerOf(fault)
    if (replaced !== undefined) {
      see({ method, params, batch, outcome: 'fault', fault: name as string })
      return worded(replaced, item, fault)
    }
    try {
      const result = toJson(await node.run(method, params, fault))
      see({
        method,
        params,
        batch,
        ...(name === undefined ? { outcome: 'result' } : { outcome: 'fault', fault: name }),
      })
      return { status: 200, result }
    } catch (error) {
      const { code, message, data } = isRpcError(error)
        ? error
        : new RpcFailure(-32_603, `Internal error: ${(error as Error).message}`)
      const told = { code, message, ...(data !== undefined && { data }) }
      see({ method, params, batch, outcome: 'error', error: told })
      return { status: error instanceof RefusedCall ? error.status : 200, error: told }
    }
  }

  /** What a fault says in place of the node, in the dialect that was wanted. */
  const answerOf = ({ kind, options }: Fault): DialectAnswer | undefined =>
    typeof kind === 'string'
      ? dialectAnswer(options.personality ?? node.personality(), kind as FaultKind, options.status)
      : undefined

  /** What a fault makes of the whole request; undefined where it is about one call alone. */
  const answerWhole = (
    fault: Fault,
    items: readonly Item[],
    { request, batch }: { readonly request: Request; readonly batch: boolean },
  ): (() => Response | Promise<Response>) | undefined => {
    const { kind, options } = fault
    if (typeof kind !== 'string') return () => answerGiven(kind, items, batch)
    if (
      kind === 'network' ||
      (kind === 'unconfirmed' && items.some(({ method }) => method === 'eth_sendRawTransaction'))
    ) {
      return () => Response.error()
    }
    if (kind === 'hang') return () => node.hang(request.signal).then(() => Response.error())
    if (kind === 'empty') return () => respond(options.status ?? 200, '')
    if (kind === 'htmlPage') return () => respond(options.status ?? 502, badGateway)
    const answer = answerOf(fault)
    if (answer?.whole !== true) return undefined
    const { status, headers, ...rest } = worded(answer, items[0] ?? nobody, fault)
    return () => respond(status, write({ status, ...rest }, null), headers)
  }

  const answerGiven = (given: FaultAnswer, items: readonly Item[], batch: boolean): Response => {
    const { status, headers, body } = given
    const isItem = Object(body) === body && (body as { readonly id?: unknown }).id === 1
    const text =
      batch && isItem ? `[${items.map(({ id }) => writeGiven(body, id)).join()}]` : writeGiven(body, items[0]?.id)
    return respond(status, text, headers)
  }

  return async (request) => {
    if (request.method !== 'POST') {
      return refuse(
        node.personality() === 'keyrail'
          ? dialectAnswer('keyrail', 'invalidRequest', 405)
          : { status: 405, text: 'Method Not Allowed' },
      )
    }
    const voice = node.personality()
    // As Keyrail's service and nodes themselves insist on; a provider takes anything.
    if ((voice === 'keyrail' || voice === 'node') && !isJson(request.headers.get('content-type'))) {
      return refuse(dialectAnswer(voice, 'invalidRequest', 415))
    }
    let refusal: DialectAnswer | undefined
    for (const address of node.addresses.filter(({ isNear }) => isNear(request.url))) {
      const judged = await address.refuse(request, node.personality())
      if (judged === undefined) {
        refusal = undefined
        break
      }
      refusal ??= judged
    }
    if (refusal !== undefined) return refuse(refusal)

    let parsed: unknown
    try {
      parsed = JSON.parse(await request.text())
    } catch {
      return refuse(service(400, -32_700, 'Parse error', 'parse_error'))
    }
    const batch = Array.isArray(parsed)
    const items = (batch ? (parsed as unknown[]) : [parsed]).map(itemOf)
    if (batch && items.length === 0) return refuseAs('invalidRequest')
    if (batch && items.length > node.maxBatch()) {
      const said = dialectAnswer(node.personality(), 'batchTooLarge') as DialectAnswer
      const limit = {
        ...said,
        error: said.error && {
          ...said.error,
          message: said.error.message
            .replace('1001 > ', `${items.length} > `)
            .replace(/(?<=(> |at most |more than ))\d+/, String(node.maxBatch())),
        },
      }
      if (said.whole) return refuse(limit as DialectAnswer)
      return respond(200, `[${items.map((item) => write(worded(limit as DialectAnswer, item), item.id)).join()}]`)
    }

    const faults = items.map(({ method, valid }) => (valid ? plan.take(method, batch) : undefined))
    for (const fault of faults) {
      if (fault?.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.options.delayMs ?? 1_000))
    }
    for (const fault of faults) {
      const whole = fault && answerWhole(fault, items, { request, batch })
      if (whole === undefined) continue
      for (const { method, params } of items)
        see({ method, params, batch, outcome: 'fault', fault: faultName(fault as Fault) })
      return whole()
    }

    const answers: Answered[] = []
    // One after the other, as they stand: what one sends, the next may find.
    for (const [index, item] of items.entries()) answers.push(await answerCall(item, batch, faults[index]))
    const ids = items.map((item, index): unknown => spoiledId(item, faults[index], items[(index + 1) % items.length]))
    let texts = answers.map((answered, index) => write(answered, ids[index]))
    const has = (kind: Fault['kind']): boolean => faults.some((fault) => fault?.kind === kind)
    texts = texts.filter((_, index) => faults[index]?.kind !== 'missing')
    if (batch && (has('shuffled') || dialects[node.personality()].reversed)) texts.reverse()
    const text = batch ? `[${texts.join()}]` : (texts[0] ?? '')
    const [only] = answers
    const isCut = has('truncated') || has('badResponse')
    return respond(
      batch || only === undefined ? 200 : only.status,
      isCut ? text.slice(0, Math.ceil(text.length / 2)) : text,
      batch ? undefined : only?.headers,
    )
  }
}

/** The id that an answer has: the call's own, or what a fault makes of it. */
function spoiledId({ id }: Item, fault: Fault | undefined, next: Item | undefined): unknown {
  const spoiled: Readonly<Partial<Record<Misbehaviour, unknown>>> = {
    wrongId: foreign,
    stringId: String(id),
    nullId: null,
    missingId: undefined,
    doubledId: next?.id,
  }
  const kind = fault?.kind as Misbehaviour
  return Object.hasOwn(spoiled, kind) ? spoiled[kind] : id
}
