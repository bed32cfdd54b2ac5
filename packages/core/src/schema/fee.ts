import type { BlockNumberOrTag } from './blockTag.ts'
import type { Quantity } from './hex.ts'

/** Fees of a range of blocks. Source: execution-apis, eth/fee_market. */
export interface FeeHistory {
  oldestBlock: Quantity
  /** One more than there are blocks: the last is the next block's. */
  baseFeePerGas: Quantity[]
  gasUsedRatio: number[]
  /** One more than there are blocks: the last is the next block's. EIP-4844. */
  baseFeePerBlobGas?: Quantity[]
  blobGasUsedRatio?: number[]
  /** By block, then by the requested percentiles. */
  reward?: Quantity[][]
}

/** Prices of gas. All are in wei. */
export interface FeeMethods {
  /** A gas price that should see a legacy transaction into a block soon. Source: execution-apis, eth/fee_market. */
  eth_gasPrice(): Promise<Quantity>
  /** A priority fee that should see a transaction into a block soon. Source: execution-apis, eth/fee_market. */
  eth_maxPriorityFeePerGas(): Promise<Quantity>
  /** The base fee of the next block. Source: execution-apis, eth/fee_market. */
  eth_baseFee(): Promise<Quantity>
  /** The price of blob gas in the next block. Source: execution-apis, eth/fee_market; EIP-4844. */
  eth_blobBaseFee(): Promise<Quantity>
  /** Base fees, the share of gas used, and priority fees at the requested percentiles (0 to 100). Source: execution-apis, eth/fee_market. */
  eth_feeHistory(
    blockCount: Quantity,
    newestBlock: BlockNumberOrTag,
    rewardPercentiles: readonly number[],
  ): Promise<FeeHistory>
}
