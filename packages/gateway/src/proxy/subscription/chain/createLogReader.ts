import type { BlockPosition, FollowedLog } from '../followedChain.ts'
import { ChainReadError } from './chainNodes.ts'
import type { ChainNode, ChainNodes } from './chainNodes.ts'
import { createBloom } from './logsBloom.ts'
import type { ChainBlock } from './parseBlock.ts'
import { countReceiptLogs, parseLogs } from './parseLogs.ts'

/** Reads the logs of a block. Concurrent reads of the same block are one. */
export type LogReader = (block: ChainBlock) => Promise<readonly FollowedLog[]>

/** The delays before the attempts at one node, in milliseconds: a node that has a block has its logs soon. */
const attemptWaitsMs = [0, 50, 150, 400, 1_400]

/** The logs of a block, as a node sent them. */
interface ReadLogs {
  readonly logs: readonly FollowedLog[]
  readonly isComplete: boolean
}

/**
 * Creates a reader of logs that notices if some are missing: a node that has a block but not its receipts yet responds with an empty list.
 *
 * The bloom filter of the logs is compared with that of the block. It proves nothing: some chains leave it empty, or leave logs out of it. So if
 * they differ, the receipts are counted. If those confirm the logs, the filters of this chain are not trusted any more, and receipts are counted
 * for each block with transactions. Logs that neither confirms are read again, five times within two seconds, and the same at another node. After
 * that they are delivered as they are.
 * @param options.check - Whether to check at all.
 * @param options.onIncomplete - Called with each block whose logs are delivered unconfirmed.
 * @param options.wait - Waits for milliseconds.
 */
export const createLogReader = (
  nodes: ChainNodes,
  options: { check: () => boolean; onIncomplete: (block: BlockPosition) => void; wait: (ms: number) => Promise<void> },
): LogReader => {
  const reading = new Map<string, Promise<readonly FollowedLog[]>>()
  let isBloomTrusted = true

  const isComplete = async (node: ChainNode, block: ChainBlock, logs: readonly FollowedLog[]): Promise<boolean> => {
    if (!options.check()) return true
    if (isBloomTrusted ? (await createBloom(logs)) === block.logsBloom : block.transactions === 0) return true
    const receipts = await node.call('eth_getBlockReceipts', `["${block.hash}"]`).catch(() => undefined)
    if (receipts === undefined || countReceiptLogs(receipts, block.transactions) !== logs.length) return false
    isBloomTrusted = false
    return true
  }
  /** Reads the logs from one node. */
  const readFrom = async (node: ChainNode, block: ChainBlock): Promise<ReadLogs | undefined> => {
    let last: ReadLogs | undefined
    for (const waitMs of attemptWaitsMs) {
      if (waitMs > 0) await options.wait(waitMs)
      const logs = parseLogs(await node.call('eth_getLogs', `[{"blockHash":"${block.hash}"}]`), block.hash)
      if (logs === undefined) continue
      last = { logs, isComplete: await isComplete(node, block, logs) }
      if (last.isComplete) return last
    }
    return last
  }
  const read = async (block: ChainBlock): Promise<readonly FollowedLog[]> => {
    let unconfirmed: readonly FollowedLog[] | undefined
    let failure: ChainReadError | undefined
    for (const node of [nodes.followed(), nodes.other()]) {
      if (node === undefined) continue
      try {
        const found = await readFrom(node, block)
        if (found?.isComplete === true) return found.logs
        if (found !== undefined && found.logs.length >= (unconfirmed?.length ?? 0)) unconfirmed = found.logs
      } catch (error) {
        if (!(error instanceof ChainReadError)) throw error
        failure ??= error
      }
    }
    // A node that fails while it is queried again has not confirmed what it sent before.
    if (unconfirmed === undefined)
      throw failure ?? new ChainReadError(`no node sent the logs of block ${block.number}`, true)
    options.onIncomplete({ number: block.number, hash: block.hash })
    return unconfirmed
  }
  return (block) => {
    const known = reading.get(block.hash)
    if (known !== undefined) return known
    const started = read(block).finally(() => reading.delete(block.hash))
    reading.set(block.hash, started)
    return started
  }
}
