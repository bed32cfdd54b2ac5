import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { corsHeaders, preflightHeaders } from '../http/cors.ts'
import type { Connections } from '../http/connections.ts'
import { isJsonMediaType } from '../http/isJsonMediaType.ts'
import { parsePath } from '../http/parsePath.ts'
import { announcesTooMuch, readBody } from '../http/readBody.ts'
import type { GatewayLimits } from '../gatewayOptions.ts'
import { parseApiKey } from '../key/apiKey.ts'
import { hashApiKey } from '../key/hashApiKey.ts'
import type { KeyRecord, KeyStore } from '../key/keyStore.ts'
import { refuseKey } from '../key/refuseKey.ts'
import type { LogEntry } from '../log.ts'
import type { MethodPolicy } from '../method/createMethodPolicy.ts'
import { networkNames } from '../network.ts'
import type { Network } from '../network.ts'
import { refusals } from '../refusal/refusals.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { parseBody } from '../request/parseBody.ts'
import type { NoRequest, RpcCall } from '../request/parseBody.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'
import type { Exchange } from './exchange.ts'
import { isRefusal, responseParts } from './responseParts.ts'
import { runBatch } from './runBatch.ts'
import { runCall } from './runCall.ts'
import type { CallContext } from './runCall.ts'
import { writeAnswer, writeRefusal } from './writeAnswer.ts'

/** What answering needs of the gateway. */
export interface Answering {
  readonly groups: Readonly<Record<Network, UpstreamGroup>>
  readonly keys: KeyStore
  readonly policy: MethodPolicy
  readonly limits: Required<GatewayLimits>
  readonly connections: Connections
  readonly draining: () => boolean
  readonly log: (entry: LogEntry) => void
}

/** How the caller asked to be told that it may send its body. */
export type Expectation = 'none' | 'continue' | 'unknown'

/**
 * Answers one HTTP request. The order of the checks is the contract: draining, path, HTTP method, media type, size, key,
 * network; then the body is parsed, and each call of it is checked and forwarded by itself.
 */
export const answerRequest = (
  answering: Answering,
  { request, response, expectation }: { request: IncomingMessage; response: ServerResponse; expectation: Expectation },
): void => {
  const exchange = beginExchange(answering, request, response)
  const refuse = (refusal: Refusal): void => refuseRequest(answering, exchange, refusal)
  if (expectation === 'unknown') {
    refuse(refusals.expectationFailed())
    return
  }
  if (announcesTooMuch(request, answering.limits.maxBodyBytes)) {
    refuse(refusals.bodyTooLarge(answering.limits.maxBodyBytes))
    return
  }
  if (expectation === 'continue') response.writeContinue()
  if (answering.draining()) {
    refuse(refusals.draining())
    return
  }
  const path = parsePath(request.url ?? '')
  if (path.kind === 'healthz' || path.kind === 'readyz') {
    answerHealth(answering, exchange, path.kind)
    return
  }
  if (request.method === 'OPTIONS') {
    const headers = preflightHeaders(request.headers['access-control-request-headers'])
    pastBody(answering, exchange, () => finish(answering, exchange, { status: 204, headers }))
    return
  }
  if (path.kind === 'unknown') refuse(refusals.notFound())
  else if (request.method !== 'POST') refuse(refusals.httpMethod())
  else if (!isJsonMediaType(request.headers['content-type'])) refuse(refusals.contentType())
  else admit(answering, exchange, path)
}

const beginExchange = (answering: Answering, request: IncomingMessage, response: ServerResponse): Exchange => {
  const exchange: Exchange = {
    request,
    response,
    requestId: randomUUID(),
    startedAt: performance.now(),
    network: undefined,
    key: undefined,
    chainId: undefined,
    method: undefined,
    items: undefined,
    reason: undefined,
    gone: false,
    cancel: undefined,
  }
  answering.connections.begin(request)
  response.on('close', () => {
    answering.connections.finish(request)
    if (response.writableFinished) return
    exchange.gone = true
    exchange.cancel?.()
    answering.log({
      event: 'disconnected',
      requestId: exchange.requestId,
      ...whoOf(exchange),
      durationMs: durationOf(exchange),
    })
  })
  return exchange
}

const durationOf = (exchange: Exchange): number => Math.round((performance.now() - exchange.startedAt) * 1000) / 1000

const whoOf = ({ network, key }: Exchange): { network?: Network; keyId?: string } => ({
  ...(network === undefined ? {} : { network }),
  ...(key === undefined ? {} : { keyId: key.id }),
})

/** Writes the answer and says so in the log. While draining, the last answer on a connection ends it. */
const finish = (
  answering: Answering,
  exchange: Exchange,
  answer: { status: number; body?: readonly (string | Buffer)[] | string; headers?: readonly string[] },
): void => {
  if (exchange.gone) return
  writeAnswer(exchange, answer, { close: closes(answering, exchange) })
  logRequest(answering, exchange, answer.status)
}

const closes = (answering: Answering, exchange: Exchange): boolean =>
  answering.draining() && answering.connections.isLast(exchange.request)

const logRequest = (answering: Answering, exchange: Exchange, status: number): void => {
  const { requestId, method, items, reason } = exchange
  answering.log({
    event: 'request',
    requestId,
    ...whoOf(exchange),
    ...(method === undefined ? {} : { method }),
    ...(items === undefined ? {} : { items }),
    status,
    ...(reason === undefined ? {} : { reason }),
    durationMs: durationOf(exchange),
  })
}

/** Writes a refusal of the whole request, after what is left of its body: unread, it would be taken for the next request. */
const refuseRequest = (answering: Answering, exchange: Exchange, refusal: Refusal): void => {
  const write = (ours: Refusal): void => {
    if (exchange.gone) return
    writeRefusal(exchange, ours, { close: ours.close === true || closes(answering, exchange) })
    logRequest(answering, exchange, ours.status)
  }
  if (refusal.close === true || exchange.request.complete) write(refusal)
  else pastBody(answering, exchange, () => write(refusal))
}

/** Reads a body only to get past it. One that is too large ends the connection. */
const pastBody = (answering: Answering, exchange: Exchange, then: () => void): void => {
  const { maxBodyBytes } = answering.limits
  readBody(exchange.request, { maxBytes: maxBodyBytes, keep: false }, (end) => {
    if (end === 'tooLarge') refuseRequest(answering, exchange, refusals.bodyTooLarge(maxBodyBytes))
    else if (end !== 'gone') then()
  })
}

const answerHealth = (answering: Answering, exchange: Exchange, kind: 'healthz' | 'readyz'): void => {
  const without = kind === 'healthz' ? [] : networkNames.filter((name) => answering.groups[name].pick() === undefined)
  const answer =
    without.length === 0
      ? { status: 200, body: '{"status":"ok"}' }
      : { status: 503, body: JSON.stringify({ status: 'unavailable', reason: 'no_upstream', networks: without }) }
  pastBody(answering, exchange, () => finish(answering, exchange, answer))
}

/** Looks the key up before the body is kept, so that a stranger's bytes are not. */
const admit = (
  answering: Answering,
  exchange: Exchange,
  at: { network: Network; variant: 'app' | 'apiKey'; key: string },
): void => {
  exchange.network = at.network
  const proceed = (record: KeyRecord | undefined): void => {
    const refusal = refuseKey(record, at)
    if (record !== undefined) {
      exchange.key = record
      if (record.networks.includes(at.network)) exchange.chainId = answering.groups[at.network].chainId
    }
    if (refusal !== undefined) refuseRequest(answering, exchange, refusal)
    else readCalls(answering, exchange, answering.groups[at.network])
  }
  if (parseApiKey(at.key) === undefined) {
    proceed(undefined)
    return
  }
  const unavailable = (): void => {
    answering.log({ event: 'fault', where: 'keyStore' })
    refuseRequest(answering, exchange, refusals.keyStoreUnavailable())
  }
  let found: KeyRecord | undefined | Promise<KeyRecord | undefined>
  try {
    found = answering.keys.find(hashApiKey(at.key))
  } catch {
    unavailable()
    return
  }
  if (found instanceof Promise) found.then(proceed, unavailable)
  else proceed(found)
}

const readCalls = (answering: Answering, exchange: Exchange, group: UpstreamGroup): void => {
  const { maxBodyBytes, maxBatchItems } = answering.limits
  readBody(exchange.request, { maxBytes: maxBodyBytes, keep: true }, (end) => {
    if (end === 'gone' || exchange.gone) return
    if (end === 'tooLarge') {
      refuseRequest(answering, exchange, refusals.bodyTooLarge(maxBodyBytes))
      return
    }
    const parsed = parseBody(end, maxBatchItems)
    if (parsed.kind === 'malformed') refuseRequest(answering, exchange, refusals.parseError())
    else if (parsed.kind === 'emptyBatch') refuseRequest(answering, exchange, refusals.emptyBatch())
    else if (parsed.kind === 'batchTooLarge')
      refuseRequest(answering, exchange, refusals.batchTooLarge(parsed.count, maxBatchItems))
    else if (parsed.kind === 'single') answerSingle(answering, exchange, { item: parsed.item, group })
    else answerBatch(answering, exchange, { items: parsed.items, group })
  })
}

const contextOf = ({ policy, limits }: Answering, group: UpstreamGroup): CallContext => ({
  group,
  policy,
  timeoutMs: limits.upstreamTimeoutMs,
  maxAnswerBytes: limits.maxAnswerBytes,
  budget: { left: limits.maxAnswerBytes },
})

const labelOf = (answering: Answering, item: RpcCall | NoRequest): string =>
  (item.valid ? answering.policy(item.method)?.label : undefined) ?? 'other'

const answerSingle = (
  answering: Answering,
  exchange: Exchange,
  { item, group }: { item: RpcCall | NoRequest; group: UpstreamGroup },
): void => {
  exchange.method = labelOf(answering, item)
  exchange.items = 1
  exchange.cancel = runCall(item, contextOf(answering, group), (end) => {
    const refused = isRefusal(end)
    if (refused) exchange.reason = end.reason
    const id = item.valid ? item.id : 'null'
    // Nobody may answer a notification, whatever became of it (JSON-RPC 2.0 section 4.1).
    if (id === undefined) finish(answering, exchange, { status: 204, headers: corsHeaders })
    else
      finish(answering, exchange, {
        status: refused ? end.status : 200,
        body: responseParts(end, id, exchange.requestId),
      })
  })
}

const answerBatch = (
  answering: Answering,
  exchange: Exchange,
  { items, group }: { items: readonly (RpcCall | NoRequest)[]; group: UpstreamGroup },
): void => {
  exchange.method = 'batch'
  exchange.items = items.length
  exchange.cancel = runBatch(items, contextOf(answering, group), (ends) => {
    const parts: (string | Buffer)[] = []
    for (const [index, end] of ends.entries()) {
      const item = items[index]
      if (isRefusal(end)) exchange.reason ??= end.reason
      const id = item?.valid ? item.id : 'null'
      if (id !== undefined) parts.push(parts.length === 0 ? '[' : ',', ...responseParts(end, id, exchange.requestId))
    }
    if (parts.length === 0) finish(answering, exchange, { status: 204, headers: corsHeaders })
    else finish(answering, exchange, { status: 200, body: [...parts, ']'] })
  })
}
