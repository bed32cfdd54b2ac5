import type { PooledTransaction } from './transaction.ts'

/** The gas limit of a block. */
export const blockGasLimit = 30_000_000
/** Gas of one blob. EIP-4844. */
export const gasPerBlob = 131_072
/** The price of blob gas, in wei. Constant, because a mock chain never has enough blobs to raise it. */
export const blobFee = 1n
/** The base fee of the first block: 1 gwei. */
export const firstBaseFee = 1_000_000_000n
/** The default priority fee: 1 gwei. */
export const defaultTip = 1_000_000_000n

/**
 * The base fee of a block, computed from its parent.
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

/** The gas price that a transaction pays in a block. */
export function effectiveGasPrice({ maxFee, maxTip }: PooledTransaction, baseFee: bigint): bigint {
  return maxFee < baseFee + maxTip ? maxFee : baseFee + maxTip
}

/** The gas of a transaction before any code runs. EIP-2028, 2930, 3860 and 7702. */
export function intrinsicGas(tx: Pick<PooledTransaction, 'to' | 'input' | 'accessList' | 'authorizations'>): number {
  let gas = 21_000 + (tx.to === null ? 32_000 + 2 * Math.ceil((tx.input.length / 2 - 1) / 32) : 0)
  for (let at = 2; at < tx.input.length; at += 2) gas += tx.input.startsWith('00', at) ? 4 : 16
  for (const { storageKeys } of tx.accessList) gas += 2_400 + 1_900 * storageKeys.length
  return gas + 25_000 * tx.authorizations.length
}
