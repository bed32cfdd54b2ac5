import { blockNumber } from './heads.ts'

/** At which block a call reads. */
export interface BlockRead {
  /** It reads at the head, or looks up to it: an answer from a node behind is an answer about the past. */
  readonly atHead: boolean
  /** The number of the block that it names; undefined where it names none. */
  readonly number: number | undefined
  /** The same params, as JSON text, with the head named by its number. */
  readonly pin: (head: number) => string
}

/** The place of the block among the params. */
const places: readonly RegExp[] = [
  /^eth_getBlock(Receipts|AccessList)$|By(Block)?Number(AndIndex)?$|^debug_getRaw(?!T)|^trace_(replayB|b)lock/,
  /^(eth_(call|estimateGas|createAccessList|simulateV1|feeHistory|get(Balance|Code|TransactionCount|Account(Info)?|StorageValues))|debug_traceCall|trace_callMany)$/,
  /^(eth_get(StorageAt|Proof)|trace_call)$/,
]

const latest = (block: unknown): boolean => block === 'latest' || block == null

/**
 * Finds out at which block a call reads.
 *
 * @param method - The method.
 * @param params - Its params as JSON text.
 * @returns Undefined where the method reads at no block.
 * @example
 * readBlock('eth_getBalance', '["0xabc","latest"]')?.pin(16) // '["0xabc","0x10"]'
 * @see The Ethereum JSON-RPC specification, "The default block parameter"
 */
export function readBlock(method: string, params: string): BlockRead | undefined {
  const logs = method === 'eth_getLogs'
  const place = logs ? 0 : places.findIndex((methods) => methods.test(method))
  if (place < 0) return undefined
  const values = JSON.parse(params) as unknown[]
  // Too few params: the node will say so.
  if (values.length < place || (logs && !values[0])) return undefined
  const block = values[place]
  const write = (value: unknown): string => {
    values[place] = value
    return JSON.stringify(values)
  }
  if (logs) {
    const filter = block as { readonly blockHash?: unknown; readonly fromBlock?: unknown; readonly toBlock?: unknown }
    if (filter.blockHash) return undefined
    const { fromBlock, toBlock } = filter
    return {
      // Also where both ends are numbers: of blocks that it does not have yet, a node says that they hold no logs.
      atHead: true,
      number: undefined,
      pin: (head) => {
        const number = hex(head)
        return write({
          ...filter,
          ...(latest(fromBlock) && { fromBlock: number }),
          ...(latest(toBlock) && { toBlock: number }),
        })
      },
    }
  }
  // What is pending is not in a block yet, so it cannot be named by one.
  return {
    atHead: latest(block) || block === 'pending',
    number: blockNumber(block) || undefined,
    pin: (head) => (latest(block) ? write(hex(head)) : params),
  }
}

const hex = (number: number): string => `0x${number.toString(16)}`
