import { transactionHash } from '@keyrail/core/internal'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { chooseEnd, failureRules } from './failureRules.ts'
import type { ForwardedCall } from './forwardedCall.ts'
import type { AttemptResult } from './readAttempt.ts'

/**
 * Gets the acceptance of a transaction by one of several nodes. A node that has it already accepts it too, because another node may have passed it
 * on: the result is then the transaction's hash.
 * @returns `undefined` if the node did not accept it.
 */
export const toAcceptance = ({ params }: ForwardedCall, end: AttemptResult): AttemptResult | undefined => {
  if (end.kind === 'result') return end
  const hash = end.kind === 'txKnown' && params !== undefined ? computeHash(params) : undefined
  return hash === undefined ? undefined : { ...end, kind: 'result', result: { member: 'result', value: `"${hash}"` } }
}

const computeHash = (params: string): string | undefined => {
  try {
    const [raw] = JSON.parse(params) as readonly unknown[]
    return transactionHash(raw, (hex) => `0x${bytesToHex(keccak_256(hexToBytes(hex.slice(2))))}`)
  } catch {
    // Not a list with a transaction that we know: the node's own error is the response.
    return undefined
  }
}

/** Whether a node may have the transaction although it did not accept it, as far as we could read. */
const mayHaveIt = ({ kind, isRejectedBeforeRun }: AttemptResult): boolean => {
  if (kind === 'result' || isRejectedBeforeRun) return false
  const { about } = failureRules[kind]
  return kind === 'unconfirmed' || about === 'node' || about === 'gateway'
}

/** Chooses between the ends of two copies that were not accepted: one that says nothing about the transaction, because then not all rejected it, else the more informative rejection. */
export const chooseCopyEnd = (best: AttemptResult | undefined, end: AttemptResult): AttemptResult => {
  if (best === undefined || mayHaveIt(best) === mayHaveIt(end)) return chooseEnd(best, end)
  return mayHaveIt(best) ? best : end
}
