import type { Hash } from '@keyrail/core'
import { keccakText } from '../bytes/keccak.ts'
import { checkInteger, describeValue, invalidInput } from '../invalidInput.ts'
import type { ChainAccounts, MockAccount } from './createAccounts.ts'
import type { Block } from './block.ts'
import { buildBlock, logGas } from './buildBlock.ts'
import { signTransaction } from './encodeTransaction.ts'
import { firstBaseFee, nextBaseFee, defaultTip } from './fees.ts'
import { emptyRoot, headerHash } from './header.ts'
import type { Header } from './header.ts'
import { normalizeLog } from './logEntry.ts'
import type { LogEntry } from './logEntry.ts'
import type { Execute } from './message.ts'
import { createPool } from './pool.ts'
import type { Pool } from './pool.ts'
import type { PooledTransaction } from './transaction.ts'
import { stateKey, createWorldState } from './worldState.ts'
import type { StateValue } from './worldState.ts'

/** Options of {@link createChain}. */
export interface ChainOptions {
  readonly chainId: number
  readonly seed: string
  readonly funded: ChainAccounts
  /** The timestamp of the first block, in seconds since 1970. */
  readonly timestamp: number
  /** The time between two blocks, in seconds. */
  readonly blockTime: number
  readonly automine: boolean
  readonly execute: Execute
  /** Called after each change of `events` or `arrivals`. */
  readonly onChange: () => void
}

/** A new block, or one that a reorganization removed. */
export interface ChainEvent {
  readonly block: Block
  readonly removed: boolean
}

/** A chain that a test controls. */
export interface Chain {
  readonly chainId: number
  readonly accounts: readonly MockAccount[]
  readonly pool: Pool
  /** All added and removed blocks, in order. */
  readonly events: readonly ChainEvent[]
  /** All transactions that ever entered the pool, in order. */
  readonly arrivals: readonly PooledTransaction[]
  readonly height: () => number
  readonly block: (number: number) => Block | undefined
  readonly blockByHash: (hash: string) => Block | undefined
  readonly find: (hash: string) => { readonly block: Block; readonly index: number } | undefined
  /** Reads the state after a block. @default the latest block */
  readonly read: (key: string, number?: number) => StateValue
  readonly write: (key: string, value: StateValue) => void
  readonly nextBaseFee: () => bigint
  /** The timestamp of the next block, in seconds since 1970. */
  readonly nextTimestamp: () => number
  readonly setNextBlockTimestamp: (timestamp: number) => void
  readonly advanceTime: (seconds: number) => void
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

const initialBalance = 10_000n * 10n ** 18n
const zeroHash = `0x${'00'.repeat(32)}` as const

/** Creates a chain with one block. */
export function createChain(options: ChainOptions): Chain {
  const { chainId, seed, blockTime, execute, onChange } = options
  const { accounts, emitter } = options.funded
  const state = createWorldState()
  const pool = createPool()
  const events: ChainEvent[] = []
  const arrivals: PooledTransaction[] = []
  const blocksByHash = new Map<string, Block>()
  const places = new Map<string, { readonly block: Block; readonly index: number }>()
  const blocks: Block[] = []
  let saved: Saved[] = []
  let snapshots = 0
  let forks = 0
  let now = options.timestamp
  /** The timestamp that a test set for the next block. */
  let fixedTimestamp: number | undefined

  const head = (): Block => blocks.at(-1) as Block
  const read = (key: string, number = head().number): StateValue => state.read(key, number)

  const attach = (block: Block, silent = false): void => {
    blocks.push(block)
    blocksByHash.set(block.hash, block)
    for (const [index, { tx }] of block.executions.entries()) places.set(tx.hash, { block, index })
    state.write(block.changes, block.number)
    state.write(block.overrides, block.number)
    if (silent) return
    events.push({ block, removed: false })
    onChange()
  }
  const detach = (silent = false): Block => {
    const block = blocks.pop() as Block
    blocksByHash.delete(block.hash)
    for (const { tx } of block.executions) places.delete(tx.hash)
    for (const keys of [block.changes.keys(), block.overrides.keys()]) state.rewind(keys, block.number - 1)
    if (!silent) {
      events.push({ block, removed: true })
      onChange()
    }
    return block
  }
  /** Replaces the latest block by a changed copy. Snapshots hold the block itself, which must not change. */
  const overrideState = (changes: ReadonlyMap<string, StateValue>): void => {
    const last = head()
    const block: Block = { ...last, overrides: new Map([...last.overrides, ...changes]) }
    blocks[blocks.length - 1] = block
    blocksByHash.set(block.hash, block)
    for (const [index, { tx }] of block.executions.entries()) places.set(tx.hash, { block, index })
    state.write(changes, block.number)
  }
  const getNextTimestamp = (): number => fixedTimestamp ?? Math.max(head().header.timestamp + blockTime, now)

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
    fixedTimestamp = undefined
  }
  const getNextBaseFee = (): bigint => nextBaseFee(head().header.baseFee, head().header.gasUsed)
  const mine = (count: number): void => {
    for (let mined = 0; mined < count; mined++) mineOne(getNextTimestamp(), pool.take(read, getNextBaseFee()))
  }
  const addToChain = (tx: PooledTransaction): void => {
    arrivals.push(tx)
    onChange()
    if (options.automine && pool.peek(read, getNextBaseFee()).length > 0) mine(1)
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
  const balances = [...accounts, emitter].map(({ address }) => [stateKey.balance(address), initialBalance] as const)
  attach({
    number: 0,
    hash: headerHash(genesis),
    header: genesis,
    executions: [],
    changes: new Map<string, StateValue>([...balances, [stateKey.balance(emitter.address), initialBalance ** 2n]]),
    overrides: new Map(),
  })

  return {
    chainId,
    accounts,
    pool,
    events,
    arrivals,
    height: () => head().number,
    block: (number) => blocks[number],
    blockByHash: (hash) => blocksByHash.get(hash),
    find: (hash) => places.get(hash),
    read,
    write: (key, value) => overrideState(new Map([[key, value]])),
    nextBaseFee: getNextBaseFee,
    nextTimestamp: getNextTimestamp,
    setNextBlockTimestamp(timestamp) {
      if (!Number.isSafeInteger(timestamp) || timestamp <= head().header.timestamp) {
        throw invalidInput(
          `The timestamp of the next block is ${describeValue(timestamp)}. Use an integer above ${head().header.timestamp}`,
        )
      }
      fixedTimestamp = timestamp
    },
    advanceTime(seconds) {
      checkInteger('The argument of advanceTime', seconds, 0)
      const until = now + seconds
      while ((fixedTimestamp ?? head().header.timestamp + blockTime) <= until) {
        // The clock first moves to the time of this block.
        now = fixedTimestamp ?? head().header.timestamp + blockTime
        mine(1)
      }
      now = until
    },
    mine(count) {
      checkInteger('The argument of mine', count, 1)
      mine(count)
    },
    submit(tx) {
      // As in geth: a transaction that is in a block fails with "nonce too low"; only a pending one with "already known".
      pool.add(tx, read, chainId)
      addToChain(tx)
    },
    emit(logs) {
      const fields = {
        type: 2,
        chainId: BigInt(chainId),
        nonce: pool.nextNonce(emitter.address, read),
        to: logs[0]?.address ?? emitter.address,
        value: 0n,
        input: '0x',
        gas: logs.reduce((sum, log) => sum + logGas(log), 21_000),
        maxFee: 1_000n * firstBaseFee,
        maxTip: defaultTip,
        accessList: [],
        maxBlobFee: 0n,
        blobHashes: [],
        authorizations: [],
      } as const
      const tx = { ...signTransaction(fields, emitter.privateKey), emits: logs.map(normalizeLog) }
      pool.add(tx, read, chainId)
      addToChain(tx)
      return tx.hash
    },
    reorg(depth, drop) {
      if (!Number.isSafeInteger(depth) || depth < 1 || depth > head().number) {
        throw invalidInput(`The depth of reorg is ${describeValue(depth)}. Use an integer from 1 to ${head().number}`)
      }
      const removed = Array.from({ length: depth }, () => detach()).reverse()
      const overrides = new Map(removed.flatMap((block) => [...block.overrides]))
      if (overrides.size > 0) overrideState(overrides)
      if (!drop) for (const { executions } of removed) for (const { tx } of executions) pool.putBack(tx)
      forks++
      const clock = { now, fixedTimestamp }
      for (const { header } of removed) mineOne(header.timestamp, [])
      ;({ now, fixedTimestamp } = clock)
    },
    snapshot() {
      const id = `0x${(++snapshots).toString(16)}`
      saved.push({ id, blocks: [...blocks], waiting: pool.all(), now })
      return id
    },
    revert(id) {
      const index = saved.findIndex((one) => one.id === id)
      const found = saved[index]
      if (found === undefined)
        throw invalidInput(
          `There is no snapshot ${describeValue(id)}. revert deletes it and all later ones. Take a new one`,
        )
      saved = saved.slice(0, index)
      const before = [...blocks]
      const other = before.findIndex((block, number) => block !== found.blocks[number])
      const common = other === -1 ? Math.min(before.length, found.blocks.length) : other
      // A block whose state the test overrode since then is restored silently: its hash is the same, so filters must not report it.
      const same = new Set(found.blocks.flatMap(({ hash, number }) => (before[number]?.hash === hash ? hash : [])))
      while (blocks.length > common) detach(same.has(head().hash))
      for (const block of found.blocks.slice(common)) attach(block, same.has(block.hash))
      pool.restore(found.waiting)
      now = found.now
      fixedTimestamp = undefined
    },
  }
}
