import { respondWith } from '@keyrail/core/test/faults/respondWith.ts'
import { batchCap } from '@keyrail/core/test/faults/batchCap.ts'
import { getCalls } from '@keyrail/core/test/faults/getCalls.ts'
import type { ItemOf } from '@keyrail/core/test/faults/respondWith.ts'
import type { Script } from '@keyrail/core/test/faultServer.ts'

/** What a node is like, as far as it is not as it should be. */
export interface NodeManners {
  readonly chainId?: number
  readonly head?: number
  /** How old the newest block is, in seconds. */
  readonly ageS?: number
  /** Most calls in one request. */
  readonly mostCalls?: number
  /** Most blocks in one `eth_getLogs`. */
  readonly mostBlocks?: number
  /** Methods that it does not know. */
  readonly without?: readonly string[]
  /** Headers of each answer. */
  readonly headers?: Readonly<Record<string, string>>
  /** How it answers a preflight; not at all if it is left out. */
  readonly preflight?: { readonly status: number; readonly headers: Readonly<Record<string, string>> }
}

const hex = (value: number): string => `0x${value.toString(16)}`
const error = (code: number, message: string): object => ({ error: { code, message } })

/** A node with such manners, which is otherwise as it should be. */
export function doctorNode({
  chainId = 11_155_111,
  head = 500_000,
  ageS = 3,
  mostCalls = 1_000,
  mostBlocks = 1_000_000,
  without = [],
  headers = {},
  preflight,
}: NodeManners = {}): Script {
  const itemOf: ItemOf = ({ method, params }) => {
    if (without.includes(method)) return error(-32_601, `the method ${method} does not exist/is not available`)
    switch (method) {
      case 'eth_chainId':
        return { result: hex(chainId) }
      case 'eth_blockNumber':
        return { result: hex(head) }
      case 'eth_getBlockByNumber':
        return { result: { number: hex(head), timestamp: hex(Math.floor(Date.now() / 1_000) - ageS) } }
      case 'eth_getLogs': {
        const { fromBlock, toBlock } = params[0] as { readonly fromBlock: string; readonly toBlock: string }
        return Number(toBlock) - Number(fromBlock) + 1 > mostBlocks
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
    const script = mostCalls === 1_000 ? respondWith(itemOf) : batchCap(mostCalls, rejection, itemOf)
    script(seen, response, socket)
  }
}
