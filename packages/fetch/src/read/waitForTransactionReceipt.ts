import { isKeyrailError, KeyrailError } from '@keyrail/core'
import { checkNames, now, pause } from '@keyrail/core/internal'
import type { CallOptions, Hex } from '@keyrail/core'
import type { TransactionReceipt } from '../decode/transactionReceipt.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { invalidOption } from '../encode/invalidOption.ts'
import { callOptionNames, pickCallOptions } from './bindCallOptions.ts'
import { getBlockNumber } from './getBlockNumber.ts'
import { getTransactionReceipt } from './getTransactionReceipt.ts'
import type { ReadClient } from './readClient.ts'

/** The methods that {@link waitForTransactionReceipt} needs of a client. */
export interface ReceiptClient {
  readonly with: (options: CallOptions) => ReadClient<'eth_getTransactionReceipt' | 'eth_blockNumber'>
}

/** Options of {@link waitForTransactionReceipt}. `retries`, `priority` and `minBlock` apply to each of its calls. */
export interface WaitForTransactionReceiptOptions extends CallOptions {
  /** The transaction's hash. */
  readonly hash: Hex
  /** How many blocks must confirm it, including its own. @default 1 */
  readonly confirmations?: number | undefined
  /** How long to wait in total, in milliseconds. @default 180_000 */
  readonly timeoutMs?: number | undefined
  /** The pause after the first poll, in milliseconds. Each pause is 25 % longer, up to 4 s or this value. @default 500 */
  readonly pollingIntervalMs?: number | undefined
  /** Ends the wait, which then rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined
}

const ownNames: readonly (keyof WaitForTransactionReceiptOptions)[] = ['hash', 'confirmations', 'pollingIntervalMs']

const longestPauseMs = 4_000
const longestCallMs = 10_000

const isMilliseconds = (value: unknown, least: number): boolean =>
  typeof value === 'number' && value >= least && value < 2 ** 31

/**
 * Waits until a transaction is mined and has enough confirmations.
 *
 * If a reorganization removes the receipt while confirmations are counted, the wait continues, because the transaction may be mined again.
 * Retryable failures (network, rate limits, a lagging node) do not end the wait. Each call has at most 10 s.
 * Options bound to the client are replaced by those given here.
 *
 * @param client - A client.
 * @param options - The hash, how many confirmations to wait for, how long to wait, and call options.
 * @returns The receipt. The transaction may have reverted: see `status`.
 * @throws {KeyrailError} kind `timeout`, with the hash, when `timeoutMs` has passed; `invalidRequest` for a wrong option; a failure that
 *   is not retryable, such as `auth`, at once.
 * @throws The signal's own reason if you abort it.
 * @example
 * const hash = await sendRawTransaction(client, { transaction: '0x02f8…' })
 * const receipt = await waitForTransactionReceipt(client, { hash, confirmations: 3, timeoutMs: 60_000 })
 * if (receipt.status === 'reverted') console.log('it was mined, but reverted')
 */
export async function waitForTransactionReceipt(
  client: ReceiptClient,
  options: WaitForTransactionReceiptOptions,
): Promise<TransactionReceipt> {
  checkNames('waitForTransactionReceipt', options, [...ownNames, ...callOptionNames])
  const { confirmations = 1, timeoutMs = 180_000, pollingIntervalMs = 500, signal } = options
  const hash = encodeHex(options.hash, 'hash', 32)
  if (!(Number.isSafeInteger(confirmations) && confirmations > 0))
    throw invalidOption('confirmations must be a whole number above 0')
  if (!(timeoutMs > 0 && isMilliseconds(timeoutMs, 0)))
    throw invalidOption('timeoutMs must be a number of milliseconds above 0 and below 2^31')
  if (!isMilliseconds(pollingIntervalMs, 10))
    throw invalidOption('pollingIntervalMs must be a number of milliseconds, 10 or above and below 2^31')

  const callOptions = pickCallOptions(options)
  const deadlineAt = now() + timeoutMs
  let nextPauseMs = pollingIntervalMs
  /** The head at which the receipt found has enough confirmations. */
  let wantedHead: bigint | undefined
  let lastFailure = ''
  for (;;) {
    const leftMs = deadlineAt - now()
    if (leftMs < 1) throw timedOut({ hash, timeoutMs, mined: wantedHead !== undefined, lastFailure })
    let pauseMs = nextPauseMs
    try {
      const reader = client.with({ ...callOptions, timeoutMs: Math.min(leftMs, longestCallMs) })
      // The head is read before the receipt, so a receipt that comes back was in the chain when the head was high enough.
      const head = wantedHead === undefined ? -1n : await getBlockNumber(reader)
      if (head >= (wantedHead ?? -1n)) {
        const receipt = await getTransactionReceipt(reader, { hash })
        const needed = receipt ? receipt.blockNumber + BigInt(confirmations - 1) : undefined
        if (receipt && (confirmations === 1 || head >= (needed ?? 0n))) return receipt
        const foundFirst = wantedHead === undefined && needed !== undefined
        if (needed !== wantedHead) nextPauseMs = pauseMs = pollingIntervalMs
        wantedHead = needed
        if (foundFirst) continue
      }
      lastFailure = ''
    } catch (error) {
      if (!isKeyrailError(error) || !error.retryable) throw error
      const { retryAfterMs = 0 } = error
      if (retryAfterMs > 0 && retryAfterMs >= deadlineAt - now()) throw error
      lastFailure = `; the last poll failed: ${error.kind}`
      pauseMs = Math.max(nextPauseMs, retryAfterMs)
    }
    nextPauseMs = Math.max(pollingIntervalMs, Math.min(nextPauseMs * 1.25, longestPauseMs))
    await pause(Math.min(pauseMs, Math.max(deadlineAt - now(), 0)), signal)
  }
}

interface TimedOut {
  readonly hash: Hex
  readonly timeoutMs: number
  readonly mined: boolean
  readonly lastFailure: string
}

const timedOut = ({ hash, timeoutMs, mined, lastFailure }: TimedOut): KeyrailError => {
  const state = mined ? 'is mined, but has too few confirmations' : 'is not mined'
  const fields = {
    kind: 'timeout',
    source: 'client',
    retryable: true,
    method: 'eth_getTransactionReceipt',
    hint: mined
      ? 'wait for the same hash again'
      : 'it may still be mined: wait for the same hash again, or check whether it was replaced',
    transactionHash: hash,
  } as const
  return new KeyrailError(`transaction ${hash} ${state} after ${timeoutMs} ms${lastFailure}`, fields)
}
