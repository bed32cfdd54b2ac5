import { respondWith } from '@keyrail/core/test/faults/respondWith.ts'
import { batchCap } from '@keyrail/core/test/faults/batchCap.ts'
import { getCalls } from '@keyrail/core/test/faults/getCalls.ts'
import type { GetItem } from '@keyrail/core/test/faults/respondWith.ts'
import type { Script } from '@keyrail/core/test/faultServer.ts'

/** The behavior of a node. Everything omitted is healthy. */
export interface NodeBehavior {
  readonly chainId?: number
  readonly head?: number
  /** The age of the latest block, in seconds. */
  readonly ageSeconds?: number
  /** The maximum number of calls in a request. */
  readonly maxCalls?: number
  /** The maximum range of `eth_getLogs`, in blocks. */
  readonly maxBlocks?: number
  /** Unsupported methods. */
  readonly without?: readonly string[]
  /** Headers of each response. */
  readonly headers?: Readonly<Record<string, string>>
  /** The response to a preflight request; 405 if omitted. */
  readonly preflight?: { readonly status: number; readonly headers: Readonly<Record<string, string>> }
}

const hex = (value: number): string => `0x${value.toString(16)}`
const error = (code: number, message: string): object => ({ error: { code, message } })

/** Creates a node with this behavior. */
export function doctorNode({
  chainId = 11_155_111,
  head = 500_000,
  ageSeconds = 3,
  maxCalls = 1_000,
  maxBlocks = 1_000_000,
  without = [],
  headers = {},
  preflight,
}: NodeBehavior = {}): Script {
  const getItem: GetItem = ({ method, params }) => {
    if (without.includes(method)) return error(-32_601, `the method ${method} does not exist/is not available`)
    switch (method) {
      case 'eth_chainId':
        return { result: hex(chainId) }
      case 'eth_blockNumber':
        return { result: hex(head) }
      case 'eth_getBlockByNumber':
        return { result: { number: hex(head), timestamp: hex(Math.floor(Date.now() / 1_000) - ageSeconds) } }
      case 'eth_getLogs': {
        const { fromBlock, toBlock } = params[0] as { readonly fromBlock: string; readonly toBlock: string }
        return Number(toBlock) - Number(fromBlock) + 1 > maxBlocks
          ? error(-32_005, 'block range is too wide')
          : { result: [] }
      }
      default:
        return error(-32_601, 'the method does not exist')
    }
  }
  const rejection = {
    status: 413,
    body: { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'batch too large' } },
  }
  return (seen, response, socket) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    if (getCalls(seen).length === 0) {
      response.writeHead(preflight?.status ?? 405, preflight?.headers ?? {}).end()
      return
    }
    const script = maxCalls === 1_000 ? respondWith(getItem) : batchCap(maxCalls, rejection, getItem)
    script(seen, response, socket)
  }
}
