import { corsHeaders } from '../http/cors.ts'
import { readBody } from '../http/readBody.ts'
import { refusals } from '../refusal/refusals.ts'
import { parseBody } from '../request/parseBody.ts'
import type { NoRequest, RpcCall } from '../request/parseBody.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'
import type { CallEnd } from '../upstream/forwardCall.ts'
import type { Answering } from './answering.ts'
import { checkCall } from './checkCall.ts'
import type { Exchange } from './exchange.ts'
import { finishExchange, refuseExchange } from './finishExchange.ts'
import { isRefusal, responseParts } from './responseParts.ts'
import { runBatch } from './runBatch.ts'
import { runCall } from './runCall.ts'
import type { CallContext } from './runCall.ts'

/** Reads the body of a request whose key is good, and answers the call or the batch in it. */
export const answerCalls = (answering: Answering, exchange: Exchange, group: UpstreamGroup): void => {
  const { maxBodyBytes, maxBatchItems } = answering.limits
  readBody(exchange.request, { maxBytes: maxBodyBytes, keep: true }, (end) => {
    if (end === 'gone' || exchange.gone) return
    if (end === 'tooLarge') {
      refuseExchange(answering, exchange, refusals.bodyTooLarge(maxBodyBytes))
      return
    }
    const parsed = parseBody(end, maxBatchItems)
    if (parsed.kind === 'malformed') refuseExchange(answering, exchange, refusals.parseError())
    else if (parsed.kind === 'emptyBatch') refuseExchange(answering, exchange, refusals.emptyBatch())
    else if (parsed.kind === 'batchTooLarge')
      refuseExchange(answering, exchange, refusals.batchTooLarge(parsed.count, maxBatchItems))
    else if (parsed.kind === 'single') answerSingle(answering, exchange, { item: parsed.item, group })
    else answerBatch(answering, exchange, { items: parsed.items, group })
  })
}

const contextOf = ({ limits }: Answering, exchange: Exchange, group: UpstreamGroup): CallContext => ({
  group,
  keyId: exchange.key?.id ?? '',
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
  const settle = (end: CallEnd): void => {
    const refused = isRefusal(end)
    if (refused) exchange.reason = end.reason
    const id = item.valid ? item.id : 'null'
    // Nobody may answer a notification, whatever became of it (JSON-RPC 2.0 section 4.1).
    if (id === undefined) finishExchange(answering, exchange, { status: 204, headers: corsHeaders })
    else
      finishExchange(answering, exchange, {
        status: refused ? end.status : 200,
        body: responseParts(end, id, exchange.requestId),
      })
  }
  const call = checkCall(item, answering.policy)
  if ('reason' in call) settle(call)
  else exchange.cancel = runCall(call, contextOf(answering, exchange, group), settle)
}

const answerBatch = (
  answering: Answering,
  exchange: Exchange,
  { items, group }: { items: readonly (RpcCall | NoRequest)[]; group: UpstreamGroup },
): void => {
  exchange.method = 'batch'
  exchange.items = items.length
  exchange.cancel = runBatch(
    items.map((item) => checkCall(item, answering.policy)),
    contextOf(answering, exchange, group),
    (ends) => {
      const parts: (string | Buffer)[] = []
      for (const [index, end] of ends.entries()) {
        const item = items[index]
        if (isRefusal(end)) exchange.reason ??= end.reason
        const id = item?.valid ? item.id : 'null'
        if (id !== undefined) parts.push(parts.length === 0 ? '[' : ',', ...responseParts(end, id, exchange.requestId))
      }
      if (parts.length === 0) finishExchange(answering, exchange, { status: 204, headers: corsHeaders })
      else finishExchange(answering, exchange, { status: 200, body: [...parts, ']'] })
    },
  )
}
