import type { RawRequest } from '../transport/call/createDispatch.ts'
import { toMissing } from '../logs/nullRounds.ts'
import type { CallOptions } from '../transport/call/call.ts'
import type { LogFilterFields } from '../schema/log.ts'
import { missingBlock, parseBlock, parseLogs, toQuantity } from './chainBlock.ts'
import type { ChainBlock, WholeBlock } from './chainBlock.ts'
import type { ChainEvent } from './recentChain.ts'
import type { SubscriptionRequest } from './subscription.ts'

/** Reads blocks, and what a subscription reports of them. */
export interface ChainSource {
  /** Reads a block, by number, tag or hash. Null if the node has none. */
  readonly read: (block: number | string) => Promise<WholeBlock | null>
  /** Loads the events of a block, in order. */
  readonly load: (block: ChainBlock | WholeBlock) => Promise<readonly ChainEvent[]>
  /** Reads the logs of blocks so far below the head that they are final. Undefined for subscriptions to blocks. */
  readonly logs: LogFilterFields | undefined
}

/**
 * Creates the source for a subscription to blocks or logs.
 *
 * Logs are read by the block's hash (EIP-234): a response belongs to that block or fails. By number, a node that is behind, or on another
 * branch, would omit logs without an error.
 *
 * @param request - Sends calls.
 * @param subscription - What is subscribed to.
 * @param options - The options of each call.
 */
export function createChainSource(
  request: RawRequest,
  subscription: Exclude<SubscriptionRequest, { readonly pending: true }>,
  options: CallOptions,
): ChainSource {
  const logs = 'logs' in subscription ? subscription.logs : undefined
  const blocks = 'blocks' in subscription ? subscription.blocks : true
  const hydrated = blocks !== true && blocks.transactions === 'full'

  const read = async (block: number | string): Promise<WholeBlock | null> => {
    const method = typeof block === 'string' && block.length === 66 ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
    const params = [typeof block === 'number' ? toQuantity(block) : block, hydrated]
    const value = await request({ method, params }, options).catch(toMissing)
    return value === null ? null : parseBlock(value)
  }

  const loadLogs = async ({ hash: blockHash }: ChainBlock): Promise<readonly ChainEvent[]> => {
    const value = await request({ method: 'eth_getLogs', params: [{ ...logs, blockHash }] }, options)
    return parseLogs(value, (log) => log.blockHash === blockHash).map((log) => ({ type: 'log', log }))
  }

  const loadBlock = async (block: ChainBlock | WholeBlock): Promise<readonly ChainEvent[]> => {
    const { header } = block
    if (blocks === true) return [{ type: 'block', header }]
    // A header that a socket has sent.
    const whole = 'block' in block ? block : await read(block.hash)
    if (whole === null) throw missingBlock(block.hash)
    return [{ type: 'block', header, block: whole.block }]
  }

  return { read, load: logs ? loadLogs : loadBlock, logs }
}

/** Reads a block that the node must have. */
export async function readExisting({ read }: ChainSource, block: number | string): Promise<WholeBlock> {
  const found = await read(block)
  if (found === null) throw missingBlock(block)
  return found
}
