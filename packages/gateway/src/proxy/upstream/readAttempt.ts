import type { FailureKind } from '@keyrail/core'
import {
  classify,
  createFailure,
  isRejectedBeforeRun,
  parseRetryAfter,
  readResponse as readFailure,
} from '@keyrail/core/internal'
import type { FailureFacts } from '@keyrail/core/internal'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import type { UpstreamFault, UpstreamResponse } from './createUpstream.ts'
import { failureRules } from './failureRules.ts'
import type { AttemptEnd } from './failureRules.ts'
import type { GroupMember } from './groupMember.ts'
import { isAboveHead } from './heads/getNamedBlock.ts'
import { getNullMeaning, isNull } from './getNullMeaning.ts'
import { isResponseStatus, readResponse } from './readResponse.ts'
import type { NodeResponse } from './readResponse.ts'
import { replayMethods } from './replayMethods.ts'

/** How an attempt ended, and what the caller gets if the call ends with it. */
export interface AttemptResult extends AttemptEnd {
  readonly member: GroupMember
  /** An error is not masked yet. */
  readonly result: NodeResponse | Rejection
  /** The connection broke after the call was sent. */
  readonly isBroken?: boolean
  /** The wait that the node requests, in milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/** The call of an attempt. */
export interface AttemptedCall {
  readonly member: GroupMember
  readonly method: string
  /** Source text. */
  readonly params: string | undefined
  readonly idempotent: boolean
  readonly wireId: string
  readonly maxResponseBytes: number
}

/** A longer error or page is not classified: those with which a node rejects a call are short. */
const maxClassifiedBytes = 64 * 1024
/** Callers can make a node repeat a long text in its error, and the time to classify grows with it. */
const maxTextLength = 400
const maxDataBytes = 2_048

/** Reads how an attempt ended from what its upstream sent. */
export const readAttempt = (
  call: AttemptedCall,
  fault: UpstreamFault | undefined,
  response: UpstreamResponse | undefined,
): AttemptResult => {
  if (response === undefined) return readFault(call, fault)
  const { status, body } = response
  const found = readResponse(body, call.wireId)
  if (found !== undefined && isResponseStatus(status)) return readNodeResponse(call, found, response)
  const end = toEnd(call, toFacts(response, call))
  // Some nodes send the error of a call with a status such as 500. Without the call's id it may be a proxy's.
  const isNodeError = found?.member === 'error' && failureRules[end.kind].about === 'call' && hasId(body, call.wireId)
  if (isNodeError) return { ...end, kind: toKind(end.kind, call), member: call.member, result: found }
  // A response that cannot be returned as the node's error says nothing about the call, even if its text seems to.
  const kind = failureRules[end.kind].retry === 'never' ? 'badResponse' : end.kind
  const result = status === 429 || status === 503 ? rejections.upstreamBusy() : rejections.upstreamBad()
  return { ...end, kind, member: call.member, result }
}

/** Reads how a call ended from the node's valid response to it. */
export const readNodeResponse = (
  call: Pick<AttemptedCall, 'member' | 'method' | 'params' | 'idempotent'> & { readonly batch?: boolean },
  result: NodeResponse,
  { status, retryAfter }: Pick<UpstreamResponse, 'status' | 'retryAfter'>,
): AttemptResult => {
  const { member } = call
  if (result.member === 'result') {
    const kind = isNull(result.value) ? nullKinds[getNullMeaning(call.method)] : 'result'
    return { kind, isRejectedBeforeRun: false, member, result }
  }
  const { value } = result
  if (value.length > maxClassifiedBytes) return { kind: 'unknown', isRejectedBeforeRun: false, member, result }
  const error = parseError(value)
  const facts: FailureFacts = { text: error.message, status, rpcError: error, retryAfter, batch: call.batch }
  const end = toEnd(call, facts)
  return { ...end, kind: toKind(end.kind, call), member, result }
}

/** If all nodes send an impossible `null`, the caller gets it. */
const nullKinds = { unconfirmed: 'null', impossible: 'lagging', valid: 'result' } as const

/** Gets the kind of an error. Many nodes reject a block that they do not have yet as invalid params. */
const toKind = (kind: FailureKind, call: Pick<AttemptedCall, 'member' | 'method' | 'params'>): FailureKind =>
  kind === 'invalidRequest' && isAboveHead(call, call.member.head()) ? 'lagging' : kind

/** Reads the kind of a node's error. */
export const readErrorKind = (value: Buffer | string, method: string): FailureKind => {
  const rpcError = parseError(value)
  return toEnd({ method, idempotent: true }, { text: rpcError.message, rpcError }).kind
}

/** Reads how a node failed a query of the gateway's own, whose id is 1. */
export const readRejection = (
  response: UpstreamResponse,
  method: string,
): Pick<AttemptResult, 'retryAfterMs'> & { readonly kind: FailureKind } =>
  toEnd({ method, idempotent: true }, toFacts(response, { method, wireId: '1' }))

/** Reads how a batch failed as a whole from a response that is not a list of responses. */
export const readFailedBatch = (
  fault: UpstreamFault | undefined,
  response: UpstreamResponse | undefined,
): FailureKind => {
  if (response === undefined) return fault === 'tooLarge' ? 'range' : fault === 'noRoom' ? 'aborted' : 'network'
  const facts = { ...toFacts(response, { method: '', wireId: '0' }), batch: true }
  const kind = facts.kind ?? classify(facts, '')?.kind ?? 'unknown'
  const isRejected = facts.rpcError !== undefined || kind === 'batchTooLarge'
  return failureRules[kind].retry === 'never' && !isRejected ? 'badResponse' : kind
}

const readFault = ({ member, maxResponseBytes }: AttemptedCall, fault: UpstreamFault | undefined): AttemptResult => {
  const end = { isRejectedBeforeRun: false, member }
  if (fault === 'tooLarge') return { ...end, kind: 'range', result: rejections.responseTooLarge(maxResponseBytes) }
  if (fault === 'noRoom') return { ...end, kind: 'aborted', result: rejections.upstreamBusy() }
  return { ...end, kind: 'network', result: rejections.upstreamBad(), isBroken: true }
}

const toEnd = (
  { method, idempotent }: Pick<AttemptedCall, 'method' | 'idempotent'>,
  facts: FailureFacts,
): Pick<AttemptResult, 'kind' | 'isRejectedBeforeRun' | 'retryAfterMs'> & { readonly kind: FailureKind } => {
  if (!idempotent) {
    const failure = createFailure(facts, { method, redactedUrl: '' })
    return { kind: failure.kind, isRejectedBeforeRun: isRejectedBeforeRun(failure), retryAfterMs: failure.retryAfterMs }
  }
  // `createFailure` finds the same kind, but takes six times as long.
  const found = facts.kind ?? classify(facts, method)?.kind ?? 'unknown'
  // It rejects a transaction that is in the chain, for example for its nonce: it does not have the state before it.
  const kind = found === 'txRejected' && replayMethods.has(method) ? 'missingData' : found
  const { about } = failureRules[kind]
  const retryAfterMs = about === 'node' || about === 'load' ? parseRetryAfter(facts) : undefined
  return { kind, isRejectedBeforeRun: false, retryAfterMs }
}

/** Gets the facts about a response that is not a valid response to the call, or that has the status of a failure. */
const toFacts = (
  { status, body, retryAfter }: UpstreamResponse,
  { method, wireId }: Pick<AttemptedCall, 'method' | 'wireId'>,
): FailureFacts => {
  const text = body.length > maxClassifiedBytes ? '' : body.toString()
  const header = (name: string): string | null => (name === 'retry-after' ? (retryAfter ?? null) : null)
  const read = readFailure({ status, text, header }, { id: Number(wireId), method })
  // A response that the SDK would accept, but that is not strictly valid.
  if ('result' in read) return { text: '', kind: 'badResponse', status }
  return { ...read, text: read.text.slice(0, maxTextLength) }
}

interface ParsedError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

const parseError = (value: Buffer | string): ParsedError => {
  const { code, message, data } = JSON.parse(value.toString()) as { readonly [name in keyof ParsedError]: unknown }
  return {
    code: typeof code === 'number' ? code : Number(code) | 0,
    message: typeof message === 'string' ? message.slice(0, maxTextLength) : '',
    data: typeof data === 'string' ? data.slice(0, maxTextLength) : value.length > maxDataBytes ? undefined : data,
  }
}

const hasId = (body: Buffer, wireId: string): boolean => {
  const { id } = JSON.parse(body.toString()) as { readonly id?: unknown }
  return String(id) === wireId
}
