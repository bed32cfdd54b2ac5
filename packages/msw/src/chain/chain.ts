import type { Hash } from '@keyrail/core'
import { keccakText } from '../bytes/keccak.ts'
import { refused } from '../refused.ts'
import type { ChainAccounts, MockAccount } from './accountsOf.ts'
import type { Block } from './block.ts'
import { buildBlock, gasOfLog } from './buildBlock.ts'
import { signTransaction } from './encodeTransaction.ts'
import { firstBaseFee, nextBaseFee, usualTip } from './fees.ts'
import { emptyRoot, headerHash } from './header.ts'
import type { Header } from './header.ts'
import { keptLog } from './logEntry.ts'
import type { LogEntry } from './logEntry.ts'
import type { Execute } from './message.ts'
import { createPool } from './pool.ts'
import type { Pool } from './pool.ts'
import type { PooledTransaction } from './transaction.ts'
import { at, createWorldState } from './worldState.ts'
import type { StateValue } from './worldState.ts'

/** What a chain is made with. */
export interface ChainOptions {
  readonly chainId: number
  readonly seed: string
  readonly held: ChainAccounts
  /** The time of the first block, in seconds since 1970. */
  readonly timestamp: number
  /** Between two blocks, in seconds. */
  readonly blockTime: number
  readonly automine: boolean
  readonly execute: Execute
}

/** A block came, or one went in a reorganization. */
export interface ChainEvent {
  readonly block: Block
  readonly removed: boolean
}

/** A chain that a test drives. */
export interface Chain {
  readonly chainId: number
  readonly accounts: readonly MockAccount[]
  readonly pool: Pool
  /** All that happened to blocks, in order. */
  readonly events: readonly ChainEvent[]
  /** All transactions that ever entered the pool, in order. */
  readonly arrivals: readonly PooledTransaction[]
  readonly height: () => number
  readonly block: (number: number) => Block | undefined
  readonly blockByHash: (hash: string) => Block | undefined
  readonly find: (hash: string) => { readonly block: Block; readonly index: number } | undefined
  /** The state after a block; the last one where none is named. */
  readonly read: (key: string, number?: number) => StateValue
  readonly write: (key: string, value: StateValue) => void
  readonly baseFeeOfNext: () => bigint
  /** When the next block is, in seconds since 1970. */
  readonly timeOfNext: () => number
  readonly setTime: (timestamp: number) => void
  readonly advance: (seconds: number) => void
  readonly mine: (count: number) => void
  readonly submit: (tx: PooledTransaction) => void
  readonly emit: (logs: readonly LogEntry[]) => Hash
  readonly reorg: (depth: number, drop: boolean) => void
  readonly snapshot: () => string
  readonly revert: (id: string) => void
}

interface Saved {
  readonly id: string
  readonly blocks: readonly Block[]
  readonly waiting: readonly PooledTransaction[]
  readonly now: number
}

const rich = 10_000n * 10n ** 18n
const zeroHash = `0x${'00'.repeat(32)}` as const

/** Makes a chain of one block. */
export function createChain(options: ChainOptions): Chain {
  const { chainId, seed, blockTime, execute } = options
  const { accounts, emitter } = options.held
  const state = createWorldState()
  const pool = createPool()
  const events: ChainEvent[] = []
  const arrivals: PooledTransaction[] = []
  const byHash = new Map<string, Block>()
  const places = new Map<string, { readonly block: Block; readonly index: number }>()
  const blocks: Block[] = []
  let saved: Saved[] = []
  let snapshots = 0
  let forks = 0
  let now = options.timestamp
  /** The time that the next block was told to have. */
  let fixed: number | undefined

  const head = (): Block => blocks.at(-1) as Block
  const read = (key: string, number = head().number): StateValue => state.read(key, number)

  const attach = (block: Block, silent = false): void => {
    blocks.push(block)
    byHash.set(block.hash, block)
    for (const [index, { tx }] of block.executions.entries()) places.set(tx.hash, { block, index })
    state.write(block.changes, block.number)
    state.write(block.byHand, block.number)
    if (!silent) events.push({ block, removed: false })
  }
  const detach = (silent = false): Block => {
    const block = blocks.pop() as Block
    byHash.delete(block.hash)
    for (const { tx } of block.executions) places.delete(tx.hash)
    for (const keys of [block.changes.keys(), block.byHand.keys()]) state.rewind(keys, block.number - 1)
    if (!silent) events.push({ block, removed: true })
    return block
  }
  /** Puts a changed copy in place of the last block: whoever holds the block itself, as snapshots do, sees no change. */
  const changeByHand = (changes: ReadonlyMap<string, StateValue>): void => {
    const last = head()
    const block = { ...last, byHand: new Map([...last.byHand, ...changes]) }
    blocks[blocks.length - 1] = block
    byHash.set(block.hash, block)
    for (const [index, { tx }] of block.executions.entries()) places.set(tx.hash, { block, index })
    state.write(changes, block.number)
  }
  const timeOfNext = (): number => fixed ?? Math.max(head().header.timestamp + blockTime, now)

  const mineOne = (timestamp: number, transactions: readonly PooledTransaction[]): void => {
    const parent = head()
    const number = parent.number + 1
    const mixHash = keccakText(`${seed}/${number}/${forks}`)
    attach(
      buildBlock({
        parent,
        transactions,
        timestamp,
        mixHash,
        chainId,
        read: (key) => read(key, parent.number),
        execute,
      }),
    )
    now = timestamp
    fixed = undefined
  }
  const baseFeeOfNext = (): bigint => nextBaseFee(head().header.baseFee, head().header.gasUsed)
  const mine = (count: number): void => {
    for (let mined = 0; mined < count; mined++) mineOne(timeOfNext(), pool.take(read, baseFeeOfNext()))
  }
  const enter = (tx: PooledTransaction): void => {
    arrivals.push(tx)
    if (options.automine && pool.peek(read, baseFeeOfNext()).length > 0) mine(1)
  }

  const genesis: Header = {
    number: 0,
    parentHash: zeroHash,
    stateRoot: keccakText(`${seed}/${chainId}`),
    transactionsRoot: emptyRoot,
    receiptsRoot: emptyRoot,
    bloom: new Uint8Array(256),
    gasUsed: 0,
    blobGasUsed: 0,
    timestamp: now,
    baseFee: firstBaseFee,
    mixHash: keccakText(seed),
  }
  const given = [...accounts, emitter].map(({ address }) => [at.balance(address), rich] as const)
  attach({
    number: 0,
    hash: headerHash(genesis),
    header: genesis,
    executions: [],
    changes: new Map<string, StateValue>([...given, [at.balance(emitter.address), rich ** 2n]]),
    byHand: new Map(),
  })

  return {
    chainId,
    accounts,
    pool,
    events,
    arrivals,
    height: () => head().number,
    block: (number) => blocks[number],
    blockByHash: (hash) => byHash.get(hash),
    find: (hash) => places.get(hash),
    read,
    write: (key, value) => changeByHand(new Map([[key, value]])),
    baseFeeOfNext,
    timeOfNext,
    setTime(timestamp) {
      if (!Number.isSafeInteger(timestamp) || timestamp <= head().header.timestamp) {
        throw refused(`setTime takes whole seconds after those of the last block, ${head().header.timestamp}`)
      }
      fixed = timestamp
    },
    advance(seconds) {
      if (!Number.isSafeInteger(seconds) || seconds < 0) throw refused('advance takes whole seconds, 0 or more')
      const until = now + seconds
      while ((fixed ?? head().header.timestamp + blockTime) <= until) {
        // The clock stands where the block is mined, not yet where it is going.
        now = fixed ?? head().header.timestamp + blockTime
        mine(1)
      }
      now = until
    },
    mine(count) {
      if (!Number.isSafeInteger(count) || count < 1) throw refused('mine takes a number of blocks, 1 or more')
      mine(count)
    },
    submit(tx) {
      // A node that has it in a block says that its nonce is used up; that it knows it already is for the pool.
      pool.add(tx, read, chainId)
      enter(tx)
    },
    emit(logs) {
      const fields = {
        type: 2,
        chainId: BigInt(chainId),
        nonce: pool.nextNonce(emitter.address, read),
        to: logs[0]?.address ?? emitter.address,
        value: 0n,
        input: '0x',
        gas: logs.reduce((sum, log) => sum + gasOfLog(log), 21_000),
        maxFee: 1_000n * firstBaseFee,
        maxTip: usualTip,
        accessList: [],
        maxBlobFee: 0n,
        blobHashes: [],
        authorizations: [],
      } as const
      const tx = { ...signTransaction(fields, emitter.privateKey), emits: logs.map(keptLog) }
      pool.add(tx, read, chainId)
      enter(tx)
      return tx.hash
    },
    reorg(depth, drop) {
      if (!Number.isSafeInteger(depth) || depth < 1 || depth > head().number) {
        throw refused(
          `reorg takes a depth from 1 to ${head().number}, which is as many blocks as there are after the first`,
        )
      }
      const gone = Array.from({ length: depth }, () => detach()).reverse()
      const byHand = new Map(gone.flatMap((block) => [...block.byHand]))
      if (byHand.size > 0) changeByHand(byHand)
      if (!drop) for (const { executions } of gone) for (const { tx } of executions) pool.putBack(tx)
      forks++
      const clock = { now, fixed }
      for (const { header } of gone) mineOne(header.timestamp, [])
      ;({ now, fixed } = clock)
    },
    snapshot() {
      const id = `0x${(++snapshots).toString(16)}`
      saved.push({ id, blocks: [...blocks], waiting: pool.all(), now })
      return id
    },
    revert(id) {
      const index = saved.findIndex((one) => one.id === id)
      const found = saved[index]
      if (found === undefined) throw refused('revert takes what snapshot gave, once: later snapshots go with it')
      saved = saved.slice(0, index)
      const before = [...blocks]
      const other = before.findIndex((block, number) => block !== found.blocks[number])
      const kept = other === -1 ? Math.min(before.length, found.blocks.length) : other
      // A block that a test changed by hand since then comes back as it was, which nobody who watches blocks may see.
      const same = new Set(found.blocks.flatMap(({ hash, number }) => (before[number]?.hash === hash ? hash : [])))
      while (blocks.length > kept) detach(same.has(head().hash))
      for (const block of found.blocks.slice(kept)) attach(block, same.has(block.hash))
      pool.restore(found.waiting)
      now = found.now
      fixed = undefined
    },
  }
}
