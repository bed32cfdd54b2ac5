import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A block of a simulated chain. */
export interface SimulatedBlock {
  readonly number: number
  readonly hash: string
  readonly parent: SimulatedBlock | undefined
  readonly transactions: readonly string[]
  readonly timestamp: number
}

/** A chain that a test extends, and whose blocks reach its nodes later. Times are by `performance.now`. */
export interface SimulatedChain {
  readonly tip: () => SimulatedBlock
  readonly find: (hash: string) => SimulatedBlock | undefined
  /** Adds a block with the transactions that wait. */
  readonly mine: () => void
  /** Replaces the newest blocks by as many others, and one more. */
  readonly reorganize: (depth: number) => void
  /** @param lagMs - How late blocks reach it at least, and by chance up to twice as late. */
  readonly addNode: (lagMs: number) => SimulatedNode
  /** Adds a transaction. */
  readonly send: (hash: string) => void
}

/** A node of a simulated chain. */
export interface SimulatedNode {
  readonly tip: () => SimulatedBlock
  readonly has: (hash: string) => boolean
  isDead: boolean
  /** It gets no more blocks. */
  isStuck: boolean
}

/** Numbers between 0 and 1, the same in each run. */
export const createRandom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Whether a block is an ancestor of another one, or the same. */
export const isOnBranch = ({ number, hash }: SimulatedBlock, tip: SimulatedBlock): boolean => {
  let block: SimulatedBlock | undefined = tip
  while (block !== undefined && block.number > number) block = block.parent
  return block?.hash === hash
}

/** Creates a chain of one block. */
export const createSimulatedChain = (random: () => number): SimulatedChain => {
  const blocks = new Map<string, SimulatedBlock>()
  const deliver: ((block: SimulatedBlock) => void)[] = []
  let waiting: string[] = []
  const create = (parent: SimulatedBlock | undefined, transactions: readonly string[]): SimulatedBlock => {
    const hash = `0x${(blocks.size + 1).toString(16).padStart(64, '0')}`
    const timestamp = 1_700_000_000 + Math.floor(performance.now() / 1_000)
    const block = { number: (parent?.number ?? 99) + 1, hash, parent, transactions, timestamp }
    blocks.set(hash, block)
    return block
  }
  let tip = create(undefined, [])
  const extend = (parent: SimulatedBlock, transactions: readonly string[]): void => {
    tip = create(parent, transactions)
    for (const each of deliver) each(tip)
  }
  return {
    tip: () => tip,
    find: (hash) => blocks.get(hash),
    mine: () => {
      const transactions = waiting
      waiting = []
      extend(tip, transactions)
    },
    reorganize: (depth) => {
      let parent = tip
      const transactions: string[] = []
      for (let count = 0; count < depth && parent.parent !== undefined; count += 1) {
        transactions.push(...parent.transactions)
        parent = parent.parent
      }
      extend(parent, transactions)
      for (let count = 0; count < depth; count += 1) extend(tip, [])
    },
    addNode: (lagMs) => {
      const known = new Set(blocks.keys())
      const arrivals: { readonly at: number; readonly block: SimulatedBlock }[] = []
      let own = tip
      const arrive = (): void => {
        while (arrivals.length > 0 && (arrivals[0]?.at ?? 0) <= performance.now()) {
          const { block } = arrivals.shift() ?? { block: own }
          known.add(block.hash)
          if (block.number > own.number) own = block
        }
      }
      deliver.push((block) => {
        const at = Math.max(arrivals.at(-1)?.at ?? 0, performance.now() + (1 + random()) * lagMs)
        if (!node.isStuck) arrivals.push({ at, block })
      })
      const node: SimulatedNode = {
        tip: () => {
          arrive()
          return own
        },
        has: (hash) => {
          arrive()
          return known.has(hash)
        },
        isDead: false,
        isStuck: false,
      }
      return node
    },
    send: (hash) => void waiting.push(hash),
  }
}

/** A URL behind which nodes are. */
export interface NodesUrl {
  readonly url: string
  /** How many calls it was sent, by method, without health checks. */
  readonly calls: Map<string, number>
  readonly stop: () => Promise<void>
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

const healthChecks: ReadonlySet<string> = new Set(['eth_chainId', 'eth_syncing', 'web3_clientVersion'])
const toHex = (number: number): string => `0x${number.toString(16)}`

interface RpcError {
  readonly code: number
  readonly message: string
}

/**
 * Starts a server that sends each request to one of the nodes, by chance. The result of a read of the state is the hash of the block that it was read at.
 * @param options.mines - Whether each transaction is mined at once.
 * @param options.client - What it says to `web3_clientVersion`.
 */
export const startNodes = async (
  chain: SimulatedChain,
  nodes: readonly SimulatedNode[],
  options: {
    readonly chainId: number
    readonly random: () => number
    readonly client?: string
    readonly mines?: boolean
    /** What it does with the object of EIP-1898. @default it reads it */
    readonly objects?: 'rejected' | 'ignored'
  },
): Promise<NodesUrl> => {
  const calls = new Map<string, number>()
  const readAt = (node: SimulatedNode, name: unknown): SimulatedBlock | RpcError => {
    const tip = node.tip()
    if (name === 'latest' || name === undefined) return tip
    if (options.objects === 'ignored') return tip
    if (options.objects === 'rejected')
      return { code: -32_602, message: 'invalid argument 1: json: cannot unmarshal object' }
    const { blockHash = '' } = name as { readonly blockHash?: string }
    const block = node.has(blockHash) ? chain.find(blockHash) : undefined
    if (block === undefined) return { code: -32_000, message: 'header for hash not found' }
    return isOnBranch(block, tip) ? block : { code: -32_000, message: 'hash is not currently canonical' }
  }
  const toBlockText = (block: SimulatedBlock | undefined) =>
    block === undefined
      ? null
      : {
          number: toHex(block.number),
          hash: block.hash,
          parentHash: block.parent?.hash ?? `0x${'0'.repeat(64)}`,
          timestamp: toHex(block.timestamp),
          transactions: block.transactions,
        }
  const findReceipt = (node: SimulatedNode, hash: unknown) => {
    let block: SimulatedBlock | undefined = node.tip()
    while (block !== undefined && !block.transactions.includes(String(hash))) block = block.parent
    return block === undefined
      ? null
      : { transactionHash: hash, blockNumber: toHex(block.number), blockHash: block.hash, transactionIndex: '0x0' }
  }
  const respond = (node: SimulatedNode, { method, params }: Call): { result: unknown } | { error: unknown } => {
    if (method === 'eth_chainId') return { result: toHex(options.chainId) }
    if (method === 'eth_syncing') return { result: false }
    if (method === 'web3_clientVersion') return { result: options.client ?? 'Geth/v1.17.0' }
    if (method === 'eth_blockNumber') return { result: toHex(node.tip().number) }
    if (method === 'eth_gasPrice') return { result: '0x1' }
    if (method === 'eth_getTransactionReceipt') return { result: findReceipt(node, params[0]) }
    if (method === 'eth_getBlockByNumber') return { result: toBlockText(node.tip()) }
    if (method === 'eth_getBlockByHash')
      return { result: toBlockText(node.has(String(params[0])) ? chain.find(String(params[0])) : undefined) }
    if (method === 'eth_sendRawTransaction') {
      chain.send(String(params[0]))
      if (options.mines === true) chain.mine()
      return { result: params[0] }
    }
    const block = readAt(node, params[1])
    return 'code' in block ? { error: block } : { result: block.hash }
  }
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const node = nodes[Math.floor(options.random() * nodes.length)]
      const parsed = JSON.parse(Buffer.concat(chunks).toString()) as Call | readonly Call[]
      const list = (Array.isArray(parsed) ? parsed : [parsed]) as readonly Call[]
      const isProbe = request.headers['user-agent'] === 'keyrail-probe'
      for (const { method } of list)
        if (!healthChecks.has(method) && !(isProbe && method === 'eth_blockNumber'))
          calls.set(method, (calls.get(method) ?? 0) + 1)
      if (node === undefined || node.isDead) {
        response.statusCode = 502
        response.end('Bad Gateway')
        return
      }
      const send = (): void => {
        const responses = list.map((call) => ({ jsonrpc: '2.0', id: call.id, ...respond(node, call) }))
        response.end(JSON.stringify(Array.isArray(parsed) ? responses : responses[0]))
      }
      // Other requests and blocks come in between.
      let turns = Math.floor(options.random() * 6)
      const wait = (): void => {
        turns -= 1
        if (turns < 0) send()
        else setImmediate(wait)
      }
      wait()
    })
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
