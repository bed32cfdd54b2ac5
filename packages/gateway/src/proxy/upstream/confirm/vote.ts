import { hash } from 'node:crypto'
import type { FailureKind } from '@keyrail/core'
import { decidedKinds, toFailureMeaning, toMeaning } from '@keyrail/core/internal'
import type { CallResult } from '../callResult.ts'
import type { AttemptFailure } from '../failureRules.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { GroupMember } from '../groupMember.ts'
import { readNodeResponse } from '../readAttempt.ts'
import type { NodeResponse } from '../readResponse.ts'

/** What a node responded to a call. */
export interface Vote {
  readonly member: GroupMember
  readonly result: NodeResponse
  /** Responses that mean the same have the same. */
  readonly getMeaning: () => string
}

/** Reads the vote of a node; `undefined` if it has said nothing about the call. */
export const toVote = (
  { method, params }: ForwardedCall,
  member: GroupMember,
  result: CallResult,
): Vote | undefined => {
  if (!('value' in result)) return undefined
  const { kind } = readNodeResponse({ member, method, params, idempotent: true }, result, { status: 200 })
  if (!hasSaid(kind)) return undefined
  let meaning: string | undefined
  const read = (): string =>
    kind === 'result' || kind === 'null' ? readMeaning(result.value.toString(), method) : readFailure(result, kind)
  return { member, result, getMeaning: () => (meaning ??= shorten(read())) }
}

const hasSaid = (kind: AttemptFailure | 'result'): boolean =>
  kind === 'result' || kind === 'null' || decidedKinds.some((decided) => decided === kind)

/** Nobody else is served while a result is parsed. */
const maxParsedLength = 4 * 1024 * 1024

const readMeaning = (text: string, method: string): string =>
  (text.length > maxParsedLength ? undefined : toMeaning(JSON.parse(text), method)) ?? text

/** No result is written like this. */
const readFailure = ({ value }: NodeResponse, kind: FailureKind): string =>
  `failure ${toFailureMeaning(kind, JSON.parse(value.toString()) as Parameters<typeof toFailureMeaning>[1])}`

const maxMeaningLength = 1_024

/** Large results are counted in memory once, as the response of the node. */
const shorten = (meaning: string): string => (meaning.length > maxMeaningLength ? hash('sha256', meaning) : meaning)

/** Gets the bytes of a response, without a copy of large ones. */
export const toBytes = ({ result: { value } }: Vote): Buffer =>
  typeof value === 'string' ? Buffer.from(value, 'latin1') : value

/** Most nodes send the same bytes, which mean the same. */
export const isSame = (one: Vote, other: Vote): boolean =>
  (one.result.member === other.result.member && toBytes(one).equals(toBytes(other))) ||
  one.getMeaning() === other.getMeaning()
