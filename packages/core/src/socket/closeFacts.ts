import { classify } from '../failure/classify.ts'
import type { FailureFacts } from '../failure/failureFacts.ts'
import type { FailureKind } from '../failure/failureKind.ts'

/** The kinds of failure by close code, unless the reason has one. All other codes are of kind `network`. */
const kindsByCode: Readonly<Record<number, FailureKind>> = {
  1002: 'badResponse', // protocol error
  1003: 'badResponse', // a type of data that the server does not take
  1007: 'badResponse', // invalid data
  1008: 'forbidden', // policy violation
  1009: 'invalidRequest', // message too big
  1011: 'unavailable', // internal error
  1014: 'unavailable', // bad gateway
}

/** The reasons of Keyrail's service that only a WebSocket connection has. The classification has the others, which are also those of HTTP. */
const kindsByReason: Readonly<Record<string, FailureKind>> = {
  too_many_notifications: 'range',
  reorg_too_deep: 'unavailable',
}

/**
 * Whether the reason of a close code may say more than the code: a broken policy, an error of the server, or a code of an application. The other
 * codes are about the connection, for any reason.
 */
const hasReason = (code: number): boolean => code === 1008 || code === 1011 || (code >= 3_000 && code < 5_000)

/**
 * Converts the end of a WebSocket connection to the facts of a failure.
 *
 * @param code - The close code. 1006 if the connection broke without a close frame, 1005 if the close frame has no code.
 * @param reason - The reason in the close frame. A service of Keyrail sends the reason of a rejection, such as `key_revoked`.
 * @returns The facts. `rpcError.data.reason` is the reason, as in the response to an HTTP request that is rejected.
 * @example
 * toCloseFacts(1008, 'key_revoked').kind // 'auth'
 * toCloseFacts(1012, 'service restart').kind // 'network'
 * @see RFC 6455 section 7.4.1, and the IANA registry of WebSocket close codes
 */
export function toCloseFacts(code: number, reason: string): FailureFacts {
  // Deno reports 0 in place of 1006.
  const closed =
    code === 1006 || code === 0 ? 'the connection broke' : `the server closed the connection with code ${code}`
  const text = reason ? `${closed}: ${reason}` : closed
  const kind = kindsByCode[code] ?? 'network'
  const rpcError = { code, message: text, data: { reason } }
  if (!hasReason(code) || !reason) return { kind, text, rpcError: kind === 'network' ? undefined : rpcError }
  const rule = classify({ text: reason, rpcError }, 'eth_subscribe')
  return { kind: kindsByReason[reason] ?? rule?.kind ?? kind, text, rpcError }
}
