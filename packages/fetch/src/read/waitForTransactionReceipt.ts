import { isKeyrailError, KeyrailError } from '@keyrail/core'
import { checkNames, now } from '@keyrail/core/internal'
import type { CallOptions, Hex } from '@keyrail/core'
import type { TransactionReceipt } from '../decode/transactionReceipt.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { invalidOption } from '../encode/invalidOption.ts'
import { getBlockNumber } from './getBlockNumber.ts'
import { getTransactionReceipt } from './getTransactionReceipt.ts'
import { pause } from './pause.ts'
import type { ReadClient } from './readClient.ts'

/** What {@link waitForTransactionReceipt} needs of a client. */
export interface ReceiptClient {
  readonly with: (options: CallOptions) => ReadClient<'eth_getTransactionReceipt' | 'eth_blockNumber'>
}

/** Options of {@link waitForTransactionReceipt}. */
export interface WaitForTransactionReceiptOptions {
  /** The transaction's hash. */
  readonly hash: Hex
  /** How many blocks must hold it: its own and those upon it. @default 1 */
  readonly confirmations?: number | undefined
  /** How long to wait in all, in milliseconds. @default 180_000 */
  readonly timeoutMs?: number | undefined
  /** The first wait between two looks, in milliseconds; each wait is a quarter longer, up to 4 s or this. @default 500 */
  readonly pollingIntervalMs?: number | undefined
  /** Ends the wait, which then rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined
}

const names: readonly (keyof WaitForTransactionReceiptOptions)[] = [
  'hash',
  'confirmations',
  'timeoutMs',
  'pollingIntervalMs',
  'signal',
]

const longestPauseMs = 4_000
const longestLookMs = 10_000

/**
 * Waits until a transaction is mined, and as many blocks stand on it as are wanted.
 *
 * A reorganization that takes the receipt away while blocks are counted is seen: then the wait goes on, for the transaction may be
 * mined again. Failures that may pass (network, rate limits, a node that lags) do not end it.
 * Each look takes at most 10 s. Options of a call that are bound to the client are replaced by those given here.
 *
 * @param client - A client.
 * @param options - The hash; how sure and how patient to be.
 * @returns The receipt. It may tell of a transaction that reverted: see `status`.
 * @throws {KeyrailError} kind `timeout`, naming the hash, when the time is up; `invalidRequest` for a wrong option; a failure that
 *   will not pass, such as `auth`, at once.
 * @throws The signal's own reason where the caller aborted.
 * @example
 * const hash = await sendRawTransaction(client, { transaction: '0x02f8…' })
 * const receipt = await waitForTransactionReceipt(client, { hash, confirmations: 3, timeoutMs: 60_000 })
 * if (receipt.status === 'reverted') console.log('it was mined, but reverted')
 */
export async function waitForTransactionReceipt(
  client: ReceiptClient,
  options: WaitForTransactionReceiptOptions,
): Promise<TransactionReceipt> {
  checkNames('waitForTransactionReceipt', options, names)
  const { confirmations = 1, timeoutMs = 180_000, pollingIntervalMs = 500, signal } = options
  const hash = encodeHex(options.hash, 'hash', 32)
  if (!(Number.isSafeInteger(confirmations) && confirmations > 0))
    throw invalidOption('confirmations must be a whole number above 0')
  if (!(timeoutMs > 0 && timeoutMs < 2 ** 31))
    throw invalidOption('timeoutMs must be a number of milliseconds above 0 and below 2^31')
  if (!(pollingIntervalMs >= 10 && pollingIntervalMs < 2 ** 31))
    throw invalidOption('pollingIntervalMs must be a number of milliseconds, 10 or above')

  const deadlineAt = now() + timeoutMs
  let waitMs = pollingIntervalMs
  /** The head at which the receipt that was seen is deep enough. */
  let wantedHead: bigint | undefined
  let trouble = ''
  for (;;) {
    const leftMs = deadlineAt - now()
    if (leftMs < 1) throw timedOut({ hash, timeoutMs, mined: wantedHead !== undefined, trouble })
    let pauseMs = waitMs
    try {
      const reader = client.with({ timeoutMs: Math.min(leftMs, longestLookMs), ...(signal && { signal }) })
      // The head is read before the receipt: so a receipt that is given stood when the head was high enough.
      const head = wantedHead === undefined ? -1n : await getBlockNumber(reader)
      if (head >= (wantedHead ?? -1n)) {
        const receipt = await getTransactionReceipt(reader, { hash })
        const needed = receipt ? receipt.blockNumber + BigInt(confirmations - 1) : undefined
        if (receipt && (confirmations === 1 || head >= (needed ?? 0n))) return receipt
        const seenFirst = wantedHead === undefined && needed !== undefined
        if (needed !== wantedHead) waitMs = pauseMs = pollingIntervalMs
        wantedHead = needed
        if (seenFirst) continue
      }
      trouble = ''
    } catch (error) {
      if (!isKeyrailError(error) || !error.retryable) throw error
      const { retryAfterMs = 0 } = error
      if (retryAfterMs > 0 && retryAfterMs >= deadlineAt - now()) throw error
      trouble = `; the last look failed: ${error.kind}`
      pauseMs = Math.max(waitMs, retryAfterMs)
    }
    waitMs = Math.max(pollingIntervalMs, Math.min(waitMs * 1.25, longestPauseMs))
    await pause(Math.min(pauseMs, Math.max(deadlineAt - now(), 0)), signal)
  }
}

interface TimedOut {
  readonly hash: Hex
  readonly timeoutMs: number
  readonly mined: boolean
  readonly trouble: string
}

const timedOut = ({ hash, timeoutMs, mined, trouble }: TimedOut): KeyrailError => {
  const state = mined ? 'is mined, but too few blocks stand on it' : 'is not mined'
  const fields = {
    kind: 'timeout',
    source: 'client',
    retryable: true,
    method: 'eth_getTransactionReceipt',
    hint: mined
      ? 'wait for the same hash again'
      : 'it may still be mined: wait for the same hash again, or look whether it was replaced',
    transactionHash: hash,
  } as const
  return new KeyrailError(`transaction ${hash} ${state} after ${timeoutMs} ms${trouble}`, fields)
}
