import type { FailureKind } from '@keyrail/core'
import { classify } from '@keyrail/core/internal'
import type { FailureFacts } from '@keyrail/core/internal'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { classifyFailure, maxClassifiedBytes, parseError, toFacts } from './classifyFailure.ts'
import type { Received, UpstreamFault, UpstreamResponse } from './postRequest.ts'
import { failureRules } from './failureRules.ts'
import type { AttemptEnd } from './failureRules.ts'
import type { GroupMember } from './groupMember.ts'
import { isAboveHead, namesFinalTag } from './heads/getNamedBlock.ts'
import { getNullMeaning, isNull } from './getNullMeaning.ts'
import { isResponseStatus, readResponse } from './readResponse.ts'
import type { NodeResponse } from './readResponse.ts'

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
  const end = classifyFailure(call, toFacts(response, call))
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
  const end = classifyFailure(call, facts)
  return { ...end, kind: toKind(end.kind, call), member, result }
}

/** If all nodes send an impossible `null`, the caller gets it. */
const nullKinds = { unconfirmed: 'null', impossible: 'lagging', valid: 'result' } as const

/** Gets the kind of an error. Many nodes reject a block that they do not have yet, or a tag that they do not know, as invalid params. */
const toKind = (kind: FailureKind, call: Pick<AttemptedCall, 'member' | 'method' | 'params'>): FailureKind =>
  kind === 'invalidRequest' && (isAboveHead(call, call.member.head()) || namesFinalTag(call)) ? 'lagging' : kind

/** Reads how a batch failed as a whole from a response that is not a list of responses. */
export const readFailedBatch = ({ fault, response }: Received): FailureKind => {
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

const hasId = (body: Buffer, wireId: string): boolean => {
  const { id } = JSON.parse(body.toString()) as { readonly id?: unknown }
  return String(id) === wireId
}
