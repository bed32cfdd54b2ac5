import type { UpstreamGroup } from '../../upstream/createUpstreamGroup.ts'
import { sendOwnRead } from '../ownReads.ts'

/** Reads transactions from the pools of nodes. `done` gets each as JSON text; those that no node has are missing. */
export type TransactionReader = (hashes: readonly string[], done: (transactions: readonly string[]) => void) => void

const method = 'eth_getTransactionByHash'
const traits = { idempotent: true, expensive: false, weight: 1, label: method } as const
/** The reads of a network in flight. */
const maxReading = 16
/** The hashes of a network that wait. More are dropped: a pool with more transactions than its nodes can be asked for is never read completely. */
const maxWaiting = 4_096
/** Nodes accept transactions of 128 kB in their pools, which are twice as long in hex. */
const maxTransactionBytes = 1024 * 1024

/** Creates the reader of a network: each hash is read once for all subscribers, and a node can lack one transaction and have others. */
export const createTransactionReader = (options: {
  readonly getGroup: () => UpstreamGroup | undefined
  readonly timeoutMs: number
  readonly maxBufferedBytes: number
}): TransactionReader => {
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
  const read = (hash: string, done: (transaction: string | undefined) => void): void => {
    const finish = (transaction: string | undefined): void => {
      reading -= 1
      done(transaction)
      queueMicrotask(startNext)
    }
    const group = options.getGroup()
    if (group === undefined) {
      finish(undefined)
      return
    }
    const { timeoutMs, maxBufferedBytes } = options
    const call = { method, params: `["${hash}"]`, traits }
    sendOwnRead(call, { group, timeoutMs, maxBufferedBytes, maxResponseBytes: maxTransactionBytes }, (result) => {
      const text = 'value' in result && result.member === 'result' ? result.value.toString() : 'null'
      finish(text === 'null' ? undefined : text)
    })
  }
  return (hashes, done) => {
    const accepted = hashes.slice(0, Math.max(0, maxWaiting - waiting.length))
    const found: string[] = []
    let left = accepted.length
    if (left === 0) {
      done([])
      return
    }
    for (const hash of accepted)
      waiting.push(() =>
        read(hash, (transaction) => {
          if (transaction !== undefined) found.push(transaction)
          left -= 1
          if (left === 0) done(found)
        }),
      )
    startNext()
  }
}
