import type { FailureKind } from '@keyrail/core'
import {
  classify,
  createFailure,
  isRejectedBeforeRun,
  parseRetryAfter,
  readResponse as readFailure,
} from '@keyrail/core/internal'
import type { FailureFacts } from '@keyrail/core/internal'
import { methods } from '../../lib/methods.ts'
import type { UpstreamResponse } from './postRequest.ts'
import { failureRules } from './failureRules.ts'

/** A longer error or page is not classified: those with which a node rejects a call are short. */
export const maxClassifiedBytes = 64 * 1024
/** Callers can make a node repeat a long text in its error, and the time to classify grows with it. */
const maxTextLength = 400
const maxDataBytes = 2_048

/** How an attempt failed, as its response says. */
export interface Failure {
  readonly kind: FailureKind
  /** A write that failed this way cannot have been run by the node. */
  readonly isRejectedBeforeRun: boolean
  /** The wait that the node requests, in milliseconds. */
  readonly retryAfterMs: number | undefined
}

/** Classifies a failed call. */
export const classifyFailure = (
  { method, idempotent }: { readonly method: string; readonly idempotent: boolean },
  facts: FailureFacts,
): Failure => {
  if (!idempotent) {
    const failure = createFailure(facts, { method, redactedUrl: '' })
    return { kind: failure.kind, isRejectedBeforeRun: isRejectedBeforeRun(failure), retryAfterMs: failure.retryAfterMs }
  }
  // `createFailure` finds the same kind, but takes six times as long.
  const found = facts.kind ?? classify(facts, method)?.kind ?? 'unknown'
  // It rejects a transaction that is in the chain, for example for its nonce: it does not have the state before it.
  const kind = found === 'txRejected' && methods.get(method)?.replays === true ? 'missingData' : found
  const { about } = failureRules[kind]
  const retryAfterMs = about === 'node' || about === 'load' ? parseRetryAfter(facts) : undefined
  return { kind, isRejectedBeforeRun: false, retryAfterMs }
}

/** Gets the facts about a response that is not a valid response to the call, or that has the status of a failure. */
export const toFacts = (
  { status, body, retryAfter }: UpstreamResponse,
  { method, wireId }: { readonly method: string; readonly wireId: string },
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

/** Parses a node's error. */
export const parseError = (value: Buffer | string): ParsedError => {
  const { code, message, data } = JSON.parse(value.toString()) as { readonly [name in keyof ParsedError]: unknown }
  return {
    code: typeof code === 'number' ? code : Number(code) | 0,
    message: typeof message === 'string' ? message.slice(0, maxTextLength) : '',
    data: typeof data === 'string' ? data.slice(0, maxTextLength) : value.length > maxDataBytes ? undefined : data,
  }
}

/** Reads the kind of a node's error. */
export const readErrorKind = (value: Buffer | string, method: string): FailureKind => {
  const rpcError = parseError(value)
  return classifyFailure({ method, idempotent: true }, { text: rpcError.message, rpcError }).kind
}

/** Whether a node's error says that a contract reverted, or that its execution failed. */
export const isRevert = (value: Buffer | string, method: string): boolean =>
  value.length <= maxClassifiedBytes && readErrorKind(value, method) === 'revert'

/** Reads how a node failed a query of the gateway's own, whose id is 1. */
export const readRejection = (response: UpstreamResponse, method: string): Failure =>
  classifyFailure({ method, idempotent: true }, toFacts(response, { method, wireId: '1' }))
