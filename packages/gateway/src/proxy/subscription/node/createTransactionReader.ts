import type { UpstreamGroup } from '../../upstream/createUpstreamGroup.ts'
import { sendOwnRead } from '../ownReads.ts'
import type { ReadBounds } from '../ownReads.ts'

/**
 * Reads transactions from the pools of nodes.
 * @param deliver - Gets each as JSON text when it arrives; those that no node has are missing. It calls `delivered` when the text is no longer needed:
 * only a few are in memory before that.
 */
export type TransactionReader = (
  hashes: readonly string[],
  deliver: (transaction: string, delivered: () => void) => void,
) => void

const method = 'eth_getTransactionByHash'
const traits = { idempotent: true, expensive: false, weight: 1, label: method } as const
/** The transactions of a network that are being read or delivered. */
const maxReading = 16
/** The hashes of a network that wait. More are dropped: a node's pool can get transactions faster than they can be read. */
const maxWaiting = 4_096
/** Nodes accept transactions of 128 kB in their pools, which are twice as long in hex. */
const maxTransactionBytes = 1024 * 1024

/** Creates the reader of a network: each transaction is read once for all subscriptions. */
export const createTransactionReader = (
  getGroup: () => UpstreamGroup | undefined,
  bounds: Omit<ReadBounds, 'maxResponseBytes'>,
): TransactionReader => {
  const waiting: (() => void)[] = []
  let reading = 0

  const startNext = (): void => {
    while (reading < maxReading) {
      const start = waiting.shift()
      if (start === undefined) return
      reading += 1
      start()
    }
  }
  const read = (hash: string, deliver: Parameters<TransactionReader>[1]): void => {
    const finish = (): void => {
      reading -= 1
      queueMicrotask(startNext)
    }
    const group = getGroup()
    if (group === undefined) {
      finish()
      return
    }
    const { timeoutMs, maxBufferedBytes } = bounds
    const call = { method, params: `["${hash}"]`, traits }
    sendOwnRead(call, { group, timeoutMs, maxBufferedBytes, maxResponseBytes: maxTransactionBytes }, (result) => {
      const text = 'value' in result && result.member === 'result' ? result.value.toString() : 'null'
      if (text === 'null') finish()
      else deliver(text, finish)
    })
  }
  return (hashes, deliver) => {
    const accepted = hashes.slice(0, Math.max(0, maxWaiting - waiting.length))
    for (const hash of accepted) waiting.push(() => read(hash, deliver))
    startNext()
  }
}
