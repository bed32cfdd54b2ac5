import type { Address, Hash } from '@keyrail/core'
import type { Authorization } from '@keyrail/core/schema'
import { concat, fromHex, toIntegerBytes, toHex } from '../bytes/hex.ts'
import { keccak, keccakHex } from '../bytes/keccak.ts'
import { encodeRlp } from '../bytes/rlp.ts'
import { recoverAddress } from '../bytes/signature.ts'
import type { Block, Execution } from './block.ts'
import { encodeReceipt } from './block.ts'
import { createBloom } from './bloom.ts'
import { blobFee, effectiveGasPrice, gasPerBlob, intrinsicGas, nextBaseFee } from './fees.ts'
import { emptyRoot, headerHash, miner } from './header.ts'
import type { Header } from './header.ts'
import { normalizeLog } from './logEntry.ts'
import type { Execute, Outcome } from './message.ts'
import { orderedRoot } from './orderedRoot.ts'
import type { PooledTransaction } from './transaction.ts'
import { stateKey } from './worldState.ts'
import type { StateValue } from './worldState.ts'

/** The input of {@link buildBlock}. */
export interface BlockPlan {
  readonly parent: Block
  readonly transactions: readonly PooledTransaction[]
  /** In seconds since 1970. */
  readonly timestamp: number
  readonly mixHash: Hash
  readonly chainId: number
  /** The state after the parent. */
  readonly read: (key: string) => StateValue
  readonly execute: Execute
}

/** The address of a contract that an account creates with its nonce. Yellow Paper, section 7. */
function getCreateAddress(sender: Address, nonce: number): Address {
  return toHex(keccak(encodeRlp([sender, toIntegerBytes(nonce)])).slice(12))
}

/**
 * A digest that changes whenever the state changes, and is deterministic. It is not the root of a state trie, because a mock node has
 * none.
 */
function stateDigest(parent: Block, changes: ReadonlyMap<string, StateValue>): Hash {
  if (changes.size === 0 && parent.overrides.size === 0) return parent.header.stateRoot
  const serialize = (map: ReadonlyMap<string, StateValue>): string =>
    [...map]
      .map(([key, value]) => `${key}=${value}`)
      .sort()
      .join()
  return keccakHex(
    concat(
      fromHex(parent.header.stateRoot),
      new TextEncoder().encode(`${serialize(parent.overrides)};${serialize(changes)}`),
    ),
  )
}

/** Runs transactions on top of a block and builds the next block. */
export function buildBlock({ parent, transactions, timestamp, mixHash, chainId, read, execute }: BlockPlan): Block {
  const number = parent.number + 1
  const baseFee = nextBaseFee(parent.header.baseFee, parent.header.gasUsed)
  const changes = new Map<string, StateValue>()
  const current = (key: string): StateValue => changes.get(key) ?? read(key)
  const executions: Execution[] = []
  let gasUsed = 0
  let logCount = 0

  for (const tx of transactions) {
    const outcome = runTransaction(tx, { number, timestamp, baseFee }, { current, changes, chainId, execute })
    gasUsed += outcome.gasUsed
    executions.push({ tx, ...outcome, cumulativeGasUsed: gasUsed, firstLog: logCount })
    logCount += outcome.logs.length
  }

  const root = (values: readonly Uint8Array[]): Hash => (values.length === 0 ? emptyRoot : toHex(orderedRoot(values)))
  const header: Header = {
    number,
    parentHash: parent.hash,
    stateRoot: stateDigest(parent, changes),
    transactionsRoot: root(executions.map(({ tx }) => tx.raw)),
    receiptsRoot: root(executions.map(encodeReceipt)),
    bloom: logCount === 0 ? noLogs : createBloom(executions.flatMap(({ logs }) => logs)),
    gasUsed,
    blobGasUsed: executions.reduce((sum, { tx }) => sum + gasPerBlob * tx.blobHashes.length, 0),
    timestamp,
    baseFee,
    mixHash,
  }
  return { number, hash: headerHash(header), header, executions, changes, overrides: noChanges }
}

const noLogs = new Uint8Array(256)
const noChanges: ReadonlyMap<string, StateValue> = new Map()

interface Running {
  readonly current: (key: string) => StateValue
  readonly changes: Map<string, StateValue>
  readonly chainId: number
  readonly execute: Execute
}

function runTransaction(
  tx: PooledTransaction,
  block: { readonly number: number; readonly timestamp: number; readonly baseFee: bigint },
  { current, changes, chainId, execute }: Running,
): Pick<Execution, 'ok' | 'gasUsed' | 'contractAddress' | 'logs'> {
  const add = (address: Address, wei: bigint): void => {
    if (wei !== 0n) changes.set(stateKey.balance(address), (current(stateKey.balance(address)) as bigint) + wei)
  }
  changes.set(stateKey.nonce(tx.from), tx.nonce + 1)
  for (const authorization of tx.authorizations) delegate(authorization, chainId, current, changes)

  const written = new Map<string, StateValue>()
  const created = tx.to === null ? getCreateAddress(tx.from, tx.nonce) : null
  const to = tx.to ?? (created as Address)
  const outcome: Outcome =
    tx.emits !== undefined
      ? { output: '0x', logs: tx.emits, gas: tx.emits.reduce((sum, log) => sum + logGas(log), 0) }
      : created !== null
        ? { output: tx.input, logs: [], gas: 0 }
        : execute({
            from: tx.from,
            to,
            value: tx.value,
            input: tx.input,
            block,
            isTransaction: true,
            read: (key) => written.get(key) ?? current(key),
            write: (key, value) => written.set(key, value),
          })
  const needed = intrinsicGas(tx) + outcome.gas
  const ok = outcome.reverted === undefined && needed <= tx.gas
  const gasUsed = Math.min(needed, tx.gas)
  if (ok) {
    for (const [key, value] of written) changes.set(key, value)
    if (created !== null) changes.set(stateKey.nonce(created), 1).set(stateKey.code(created), tx.input)
    add(tx.from, -tx.value)
    add(to, tx.value)
  }
  const price = effectiveGasPrice(tx, block.baseFee)
  add(tx.from, -(BigInt(gasUsed) * price + BigInt(gasPerBlob * tx.blobHashes.length) * blobFee))
  add(miner, BigInt(gasUsed) * (price - block.baseFee))
  return { ok, gasUsed, contractAddress: created, logs: ok ? (tx.emits ?? outcome.logs.map(normalizeLog)) : [] }
}

/** The gas of a log. Yellow Paper, appendix G. */
export function logGas({ topics, data }: { readonly topics: readonly string[]; readonly data: string }): number {
  return 375 * (1 + topics.length) + 8 * (data.length / 2 - 1)
}

/** Delegates an account to the code of a contract if its signature is valid. EIP-7702. */
function delegate(
  { chainId, address, nonce, yParity, r, s }: Authorization,
  ours: number,
  current: (key: string) => StateValue,
  changes: Map<string, StateValue>,
): void {
  if (Number(chainId) !== 0 && Number(chainId) !== ours) return
  const signed = [toIntegerBytes(BigInt(chainId)), address, toIntegerBytes(BigInt(nonce))]
  let authority: Address
  try {
    authority = recoverAddress(keccak(concat(Uint8Array.of(5), encodeRlp(signed))), {
      r: BigInt(r),
      s: BigInt(s),
      yParity: Number(yParity) as 0 | 1,
    })
  } catch {
    return
  }
  if (current(stateKey.nonce(authority)) !== Number(nonce)) return
  changes.set(stateKey.nonce(authority), Number(nonce) + 1)
  changes.set(stateKey.code(authority), address === miner ? '0x' : `0xef0100${address.slice(2)}`)
}
