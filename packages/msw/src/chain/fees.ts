import type { PooledTransaction } from './transaction.ts'

/** The most gas that a block takes. */
export const blockGasLimit = 30_000_000
/** Gas of one blob. EIP-4844. */
export const gasPerBlob = 131_072
/** What a unit of blob gas costs; blobs are never so many here that it would rise. */
export const blobFee = 1n
/** The base fee of the first block: 1 gwei. */
export const firstBaseFee = 1_000_000_000n
/** What a transaction adds to the base fee unless it says otherwise: 1 gwei. */
export const usualTip = 1_000_000_000n

/**
 * The base fee of a block, by the one before it.
 *
 * @see EIP-1559, section Specification
 */
export function nextBaseFee(baseFee: bigint, gasUsed: number): bigint {
  const target = BigInt(blockGasLimit / 2)
  const used = BigInt(gasUsed)
  if (used === target) return baseFee
  if (used < target) return baseFee - (baseFee * (target - used)) / target / 8n
  const rise = (baseFee * (used - target)) / target / 8n
  return baseFee + (rise > 0n ? rise : 1n)
}

/** What a transaction pays for a unit of gas in a block. */
export function effectiveGasPrice({ maxFee, maxTip }: PooledTransaction, baseFee: bigint): bigint {
  return maxFee < baseFee + maxTip ? maxFee : baseFee + maxTip
}

/** The gas that a transaction costs before anything runs. EIP-2028, 2930, 3860 and 7702. */
export function intrinsicGas(tx: Pick<PooledTransaction, 'to' | 'input' | 'accessList' | 'authorizations'>): number {
  let gas = 21_000 + (tx.to === null ? 32_000 + 2 * Math.ceil((tx.input.length / 2 - 1) / 32) : 0)
  for (let at = 2; at < tx.input.length; at += 2) gas += tx.input.startsWith('00', at) ? 4 : 16
  for (const { storageKeys } of tx.accessList) gas += 2_400 + 1_900 * storageKeys.length
  return gas + 25_000 * tx.authorizations.length
}
