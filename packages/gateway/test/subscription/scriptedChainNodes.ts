import { ChainReadError } from '../../src/proxy/subscription/chain/chainNodes.ts'
import type { ChainMethod, ChainNode, ChainNodes } from '../../src/proxy/subscription/chain/chainNodes.ts'
import { addToBloom, bloomBytes, toBloomHex } from '../../src/proxy/subscription/chain/logsBloom.ts'

/** A block of a scripted chain. */
export interface ScriptedBlock {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** The source text of its logs. */
  readonly logs: readonly string[]
  /** The source text of the block. */
  readonly text: string
}

/** A node whose chain a test decides. */
export interface ScriptedNode extends ChainNode {
  /** From block 0. */
  chain: ScriptedBlock[]
  isDown: boolean
  /** How many times it responds without logs for each block, before it has them. */
  lateLogs: number
  /** Which methods it does not have. */
  readonly lacks: Set<ChainMethod>
  readonly calls: { readonly method: ChainMethod; readonly params: string }[]
  /** Called before each response. */
  before: (method: ChainMethod, params: string) => void | Promise<void>
  /** How it responds for a number without a block. */
  withoutBlock: 'null' | 'error' | 'blockBefore'
  /** Adds blocks. @param skip - How many numbers before the first have no block. @default 0 */
  readonly mine: (count: number, skip?: number) => void
  /** Replaces the newest blocks with others. */
  readonly reorg: (depth: number, count: number) => void
}

/** Nodes that share what they know by hash, as the nodes of a network do. */
export interface ScriptedNodes extends ChainNodes {
  readonly list: readonly ScriptedNode[]
  /** The node that is followed. */
  readonly current: () => ScriptedNode
}

/** Seconds between two blocks. */
const blockSeconds = 2

/** The timestamps and hashes of all blocks are different. */
let created = 0

const toHash = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`

/** What a test decides about a block. */
export interface BlockOverrides {
  readonly logsBloom?: string
  readonly logCount?: number
  /** The addresses of its logs, which are repeated if there are more logs. */
  readonly addresses?: readonly string[]
  /** In seconds since 1970. */
  readonly timestamp?: number
  /** How many numbers before it have no block. */
  readonly skip?: number
}

/** Creates a block with some logs. The hash of one does not say on which branch it is. */
export const createBlock = (parent: ScriptedBlock | undefined, overrides: BlockOverrides = {}): ScriptedBlock => {
  created += 1
  const number = parent === undefined ? 0 : parent.number + 1 + (overrides.skip ?? 0)
  const hash = toHash(created * 0x1_0000_0000)
  const parentHash = parent?.hash ?? toHash(0)
  const { logCount = created % 4, addresses = [`0x${'C0'.repeat(20)}`] } = overrides
  const bloom = Buffer.alloc(bloomBytes)
  const logs = Array.from({ length: logCount }, (_, index) => {
    const address = addresses[index % addresses.length] ?? ''
    for (const entry of [address, toHash(index), toHash(created)]) addToBloom(bloom, entry)
    return `{"address":"${address}","topics":["${toHash(index)}","${toHash(created)}"],"data":"0x","blockNumber":"0x${number.toString(16)}","blockHash":"${hash}","logIndex":"0x${index}","removed":false}`
  })
  const logsBloom = overrides.logsBloom ?? toBloomHex(bloom)
  const transactions = logs.map(() => `"${toHash(created)}"`)
  const timestamp = `0x${(overrides.timestamp ?? 1_700_000_000 + number * blockSeconds).toString(16)}`
  const text = `{"number":"0x${number.toString(16)}","hash":"${hash}","parentHash":"${parentHash}","timestamp":"${timestamp}","logsBloom":"${logsBloom}","transactions":[${transactions.join(',')}],"size":"0x1","uncles":[]}`
  return { number, hash, parentHash, logs, text }
}

/** Creates nodes with the same chain of a number of blocks. */
export const createScriptedNodes = (count: number, blocks: number): ScriptedNodes => {
  const known = new Map<string, ScriptedBlock>()
  const grow = (chain: ScriptedBlock[], added: number, skip = 0): void => {
    for (let index = 0; index < added; index += 1) {
      const block = createBlock(chain.at(-1), { skip: index === 0 ? skip : 0 })
      known.set(block.hash, block)
      chain.push(block)
    }
  }
  const first: ScriptedBlock[] = []
  grow(first, blocks)

  const createNode = (): ScriptedNode => {
    const logReads = new Map<string, number>()
    const respond = (method: ChainMethod, params: string): string => {
      const [param] = JSON.parse(params) as [string | { readonly blockHash: string }]
      if (method === 'eth_getBlockByNumber') {
        const wanted = param === 'latest' ? Infinity : Number(param)
        const found = node.chain.findLast(({ number }) => number <= wanted)
        if (param === 'latest' || found?.number === wanted) return found?.text ?? 'null'
        if (wanted > (node.chain.at(-1)?.number ?? 0) || node.withoutBlock === 'null') return 'null'
        if (node.withoutBlock === 'error') throw new ChainReadError('requested epoch was a null round')
        return found?.text ?? 'null'
      }
      const hash = typeof param === 'string' ? param : param.blockHash
      const block = known.get(hash) ?? node.chain.find((own) => own.hash === hash)
      if (method === 'eth_getBlockByHash') return block?.text ?? 'null'
      const times = logReads.get(hash) ?? 0
      if (method === 'eth_getLogs') logReads.set(hash, times + 1)
      if (block === undefined) throw new ChainReadError('unknown block')
      if (method === 'eth_getLogs') return times < node.lateLogs ? '[]' : `[${block.logs.join(',')}]`
      return times <= node.lateLogs ? '[]' : `[${block.logs.map((log) => `{"logs":[${log}]}`).join(',')}]`
    }
    const node: ScriptedNode = {
      chain: [...first],
      isDown: false,
      lateLogs: 0,
      withoutBlock: 'null',
      lacks: new Set(),
      calls: [],
      before: () => {},
      call: async (method, params) => {
        await Promise.resolve()
        node.calls.push({ method, params })
        await node.before(method, params)
        if (node.isDown) throw new ChainReadError('down', true)
        if (node.lacks.has(method)) throw new ChainReadError('no such method')
        return respond(method, params)
      },
      mine: (added, skip) => grow(node.chain, added, skip),
      reorg: (depth, added) => {
        node.chain = node.chain.slice(0, Math.max(node.chain.length - depth, 1))
        grow(node.chain, added)
      },
    }
    return node
  }
  const list = Array.from({ length: count }, createNode)
  let at = 0
  const next = (): number => {
    const order = list.map((_, index) => (at + 1 + index) % list.length)
    return order.find((index) => index !== at && list[index]?.isDown === false) ?? at
  }
  return {
    list,
    current: () => list[at] as ScriptedNode,
    followed: () => list[at],
    other: () => (next() === at ? undefined : list[next()]),
    leave: () => {
      const before = at
      at = next()
      return at !== before
    },
    sawHead: () => true,
  }
}
