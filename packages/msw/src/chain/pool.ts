import type { Address, Hash } from '@keyrail/core'
import { serverError } from '../rpc/rpcError.ts'
import { blobFee, blockGasLimit, gasPerBlob, intrinsicGas } from './fees.ts'
import type { PooledTransaction } from './transaction.ts'
import { stateKey } from './worldState.ts'
import type { StateValue } from './worldState.ts'

/** Reads the state after the latest block. */
export type ReadState = (key: string) => StateValue

/** The pending transactions. */
export interface Pool {
  /**
   * Adds a transaction.
   *
   * @throws {RpcError} with geth's message, if the transaction is invalid.
   */
  readonly add: (tx: PooledTransaction, read: ReadState, chainId: number) => void
  /** Returns a transaction of a removed block to the pool. */
  readonly putBack: (tx: PooledTransaction) => void
  readonly get: (hash: Hash) => PooledTransaction | undefined
  readonly all: () => readonly PooledTransaction[]
  /** The next nonce of a sender, after its pending transactions without a gap. */
  readonly nextNonce: (sender: Address, read: ReadState) => number
  /** Removes and returns the transactions of the next block, in order. */
  readonly take: (read: ReadState, baseFee: bigint) => PooledTransaction[]
  /** Returns what {@link take} would return, without removing it. */
  readonly peek: (read: ReadState, baseFee: bigint) => PooledTransaction[]
  readonly restore: (transactions: readonly PooledTransaction[]) => void
}

const maxCost = (tx: PooledTransaction): bigint =>
  BigInt(tx.gas) * tx.maxFee + tx.value + BigInt(gasPerBlob * tx.blobHashes.length) * tx.maxBlobFee

function check(tx: PooledTransaction, read: ReadState, chainId: number): void {
  const nonce = read(stateKey.nonce(tx.from)) as number
  const balance = read(stateKey.balance(tx.from)) as bigint
  const least = intrinsicGas(tx)
  if (tx.chainId !== undefined && tx.chainId !== BigInt(chainId)) {
    throw serverError(`invalid chain id for signer: have ${tx.chainId} want ${chainId}`)
  }
  if (tx.gas > blockGasLimit) throw serverError('exceeds block gas limit')
  if (tx.maxTip > tx.maxFee) {
    throw serverError(
      `max priority fee per gas higher than max fee per gas: address ${tx.from}, maxPriorityFeePerGas: ${tx.maxTip}, maxFeePerGas: ${tx.maxFee}`,
    )
  }
  if (tx.gas < least) throw serverError(`intrinsic gas too low: gas ${tx.gas}, minimum needed ${least}`)
  if (tx.nonce < nonce) throw serverError(`nonce too low: next nonce ${nonce}, tx nonce ${tx.nonce}`)
  if (balance < maxCost(tx)) {
    throw serverError(
      `insufficient funds for gas * price + value: balance ${balance}, tx cost ${maxCost(tx)}, overshot ${maxCost(tx) - balance}`,
    )
  }
}

/** Stores transactions until they are mined: by nonce for each sender, and by the highest tip across senders. */
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
      const getTip = (tx: PooledTransaction): bigint =>
        tx.maxFee - baseFee < tx.maxTip ? tx.maxFee - baseFee : tx.maxTip
      for (const tx of left) {
        if (tx.nonce !== (nonces.get(tx.from) ?? read(stateKey.nonce(tx.from)))) continue
        if (tx.maxFee < baseFee || tx.gas > gas || (tx.type === 3 && tx.maxBlobFee < blobFee)) continue
        if ((read(stateKey.balance(tx.from)) as bigint) < maxCost(tx) + (spent.get(tx.from) ?? 0n)) continue
        if (best === undefined || getTip(tx) > getTip(best)) best = tx
      }
      if (best === undefined) return taken
      taken.push(best)
      left.delete(best)
      gas -= best.gas
      nonces.set(best.from, best.nonce + 1)
      spent.set(best.from, (spent.get(best.from) ?? 0n) + maxCost(best))
    }
  }

  return {
    add(tx, read, chainId) {
      if (waiting.has(tx.hash)) throw serverError('already known')
      check(tx, read, chainId)
      const other = sameNonce(tx)
      if (other !== undefined) {
        const enough = (mine: bigint, its: bigint): boolean => mine * 10n >= its * 11n
        if (!enough(tx.maxFee, other.maxFee) || !enough(tx.maxTip, other.maxTip)) {
          throw serverError('replacement transaction underpriced')
        }
        waiting.delete(other.hash)
      }
      waiting.set(tx.hash, tx)
    },
    putBack(tx) {
      // A transaction that has replaced it in the pool stays.
      if (sameNonce(tx) === undefined) waiting.set(tx.hash, tx)
    },
    get: (hash) => waiting.get(hash),
    all: () => [...waiting.values()],
    nextNonce(sender, read) {
      let nonce = read(stateKey.nonce(sender)) as number
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
