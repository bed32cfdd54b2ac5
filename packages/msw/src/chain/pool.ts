import type { Address, Hash } from '@keyrail/core'
import { failed } from '../rpc/rpcFailure.ts'
import { blobFee, blockGasLimit, gasPerBlob, intrinsicGas } from './fees.ts'
import type { PooledTransaction } from './transaction.ts'
import { at } from './worldState.ts'
import type { StateValue } from './worldState.ts'

/** Reads the state after the last block. */
export type ReadState = (key: string) => StateValue

/** Transactions that wait for their block. */
export interface Pool {
  /**
   * Takes a transaction, or refuses it.
   *
   * @throws {RpcFailure} in the words of geth.
   */
  readonly add: (tx: PooledTransaction, read: ReadState, chainId: number) => void
  /** Puts back what a block held that is no more. */
  readonly putBack: (tx: PooledTransaction) => void
  readonly get: (hash: Hash) => PooledTransaction | undefined
  readonly all: () => readonly PooledTransaction[]
  /** The nonce that comes after those that wait without a gap. */
  readonly nextNonce: (sender: Address, read: ReadState) => number
  /** What a block can take, in the order in which it does, and takes it out. */
  readonly take: (read: ReadState, baseFee: bigint) => PooledTransaction[]
  /** What {@link take} would give. */
  readonly peek: (read: ReadState, baseFee: bigint) => PooledTransaction[]
  readonly restore: (transactions: readonly PooledTransaction[]) => void
}

const costOf = (tx: PooledTransaction): bigint =>
  BigInt(tx.gas) * tx.maxFee + tx.value + BigInt(gasPerBlob * tx.blobHashes.length) * tx.maxBlobFee

function check(tx: PooledTransaction, read: ReadState, chainId: number): void {
  const nonce = read(at.nonce(tx.from)) as number
  const balance = read(at.balance(tx.from)) as bigint
  const least = intrinsicGas(tx)
  if (tx.chainId !== undefined && tx.chainId !== BigInt(chainId)) {
    throw failed(`invalid chain id for signer: have ${tx.chainId} want ${chainId}`)
  }
  if (tx.gas > blockGasLimit) throw failed('exceeds block gas limit')
  if (tx.maxTip > tx.maxFee) {
    throw failed(
      `max priority fee per gas higher than max fee per gas: address ${tx.from}, maxPriorityFeePerGas: ${tx.maxTip}, maxFeePerGas: ${tx.maxFee}`,
    )
  }
  if (tx.gas < least) throw failed(`intrinsic gas too low: gas ${tx.gas}, minimum needed ${least}`)
  if (tx.nonce < nonce) throw failed(`nonce too low: next nonce ${nonce}, tx nonce ${tx.nonce}`)
  if (balance < costOf(tx)) {
    throw failed(
      `insufficient funds for gas * price + value: balance ${balance}, tx cost ${costOf(tx)}, overshot ${costOf(tx) - balance}`,
    )
  }
}

/** Keeps transactions until a block takes them: of each sender by nonce, of several senders who pays most first. */
export function createPool(): Pool {
  let waiting = new Map<Hash, PooledTransaction>()
  const sameNonce = (tx: PooledTransaction): PooledTransaction | undefined =>
    [...waiting.values()].find(({ from, nonce }) => from === tx.from && nonce === tx.nonce)

  const peek = (read: ReadState, baseFee: bigint): PooledTransaction[] => {
    const taken: PooledTransaction[] = []
    const nonces = new Map<Address, number>()
    const spent = new Map<Address, bigint>()
    const left = new Set(waiting.values())
    let gas = blockGasLimit
    for (;;) {
      let best: PooledTransaction | undefined
      const tipOf = (tx: PooledTransaction): bigint =>
        tx.maxFee - baseFee < tx.maxTip ? tx.maxFee - baseFee : tx.maxTip
      for (const tx of left) {
        if (tx.nonce !== (nonces.get(tx.from) ?? read(at.nonce(tx.from)))) continue
        if (tx.maxFee < baseFee || tx.gas > gas || (tx.type === 3 && tx.maxBlobFee < blobFee)) continue
        if ((read(at.balance(tx.from)) as bigint) < costOf(tx) + (spent.get(tx.from) ?? 0n)) continue
        if (best === undefined || tipOf(tx) > tipOf(best)) best = tx
      }
      if (best === undefined) return taken
      taken.push(best)
      left.delete(best)
      gas -= best.gas
      nonces.set(best.from, best.nonce + 1)
      spent.set(best.from, (spent.get(best.from) ?? 0n) + costOf(best))
    }
  }

  return {
    add(tx, read, chainId) {
      if (waiting.has(tx.hash)) throw failed('already known')
      check(tx, read, chainId)
      const other = sameNonce(tx)
      if (other !== undefined) {
        const enough = (mine: bigint, its: bigint): boolean => mine * 10n >= its * 11n
        if (!enough(tx.maxFee, other.maxFee) || !enough(tx.maxTip, other.maxTip)) {
          throw failed('replacement transaction underpriced')
        }
        waiting.delete(other.hash)
      }
      waiting.set(tx.hash, tx)
    },
    putBack(tx) {
      // Who took its place while it was in a block keeps it.
      if (sameNonce(tx) === undefined) waiting.set(tx.hash, tx)
    },
    get: (hash) => waiting.get(hash),
    all: () => [...waiting.values()],
    nextNonce(sender, read) {
      let nonce = read(at.nonce(sender)) as number
      const nonces = new Set([...waiting.values()].filter(({ from }) => from === sender).map((tx) => tx.nonce))
      while (nonces.has(nonce)) nonce++
      return nonce
    },
    peek,
    take(read, baseFee) {
      const taken = peek(read, baseFee)
      for (const { hash, from, nonce } of taken) {
        waiting.delete(hash)
        for (const other of waiting.values()) {
          if (other.from === from && other.nonce <= nonce) waiting.delete(other.hash)
        }
      }
      return taken
    },
    restore(transactions) {
      waiting = new Map(transactions.map((tx) => [tx.hash, tx]))
    },
  }
}
