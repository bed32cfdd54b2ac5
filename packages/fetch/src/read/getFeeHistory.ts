import type { CallOptions } from '@keyrail/core'
import { decodeOptional } from '../decode/decodeOptional.ts'
import { decodeList } from '../decode/decodeList.ts'
import { decodeObject } from '../decode/decodeObject.ts'
import { decodeQuantity } from '../decode/decodeQuantity.ts'
import { malformed } from '../decode/malformed.ts'
import type { BlockNumberInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeQuantity } from '../encode/encodeQuantity.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/** The fees of a range of blocks, decoded. Members that are not declared here are as the node sent them. */
export interface FeeHistory {
  readonly oldestBlock: bigint
  /** In wei per unit of gas. One entry more than there are blocks: the last is for the block after the newest. */
  readonly baseFeePerGas: readonly bigint[]
  /** For each block, between 0 and 1. */
  readonly gasUsedRatio: readonly number[]
  /** For each block, the tips at the requested percentiles, in wei per unit of gas. Undefined if none were requested. */
  readonly reward: readonly (readonly bigint[])[] | undefined
  /** In wei per unit of blob gas. One entry more than there are blocks. Undefined if the node does not know blobs. */
  readonly baseFeePerBlobGas: readonly bigint[] | undefined
  /** For each block, between 0 and 1. Undefined if the node does not know blobs. */
  readonly blobGasUsedRatio: readonly number[] | undefined
}

const decodeQuantities = (value: unknown, path: string): bigint[] => decodeList(value, path, decodeQuantity)

const decodeRatios = (value: unknown, path: string): number[] =>
  decodeList(value, path, (ratio, at) => {
    if (typeof ratio !== 'number') throw malformed(at, 'a number')
    return ratio
  })

/**
 * Returns the fees of the most recent blocks.
 *
 * @param client - A client.
 * @param options - The options below, and call options such as `signal` and `timeoutMs`.
 * @param options.blockCount - How many blocks, 1 to 1024. A node may return fewer.
 * @param options.newestBlock - The last of these blocks. @default 'latest'
 * @param options.rewardPercentiles - The percentiles of tips to return, each 0 to 100, in ascending order. @default none
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a malformed response, otherwise the failure of the
 *   call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const { baseFeePerGas, reward } = await getFeeHistory(client, { blockCount: 4, rewardPercentiles: [50] })
 */
export async function getFeeHistory(
  client: ReadClient<'eth_feeHistory'>,
  options: CallOptions & {
    readonly blockCount: bigint | number
    readonly newestBlock?: BlockNumberInput | undefined
    readonly rewardPercentiles?: readonly number[] | undefined
  },
): Promise<FeeHistory> {
  const own = ['blockCount', 'newestBlock', 'rewardPercentiles']
  const reader = bindCallOptions('getFeeHistory', client, options, own)
  const wire = await reader.eth_feeHistory(
    encodeQuantity(options.blockCount, 'blockCount'),
    encodeBlock(options.newestBlock, 'newestBlock'),
    [...(options.rewardPercentiles ?? [])],
  )
  const history = decodeObject<keyof FeeHistory>(wire, 'fee history')
  return {
    ...history,
    oldestBlock: decodeQuantity(history.oldestBlock, 'oldestBlock'),
    baseFeePerGas: decodeQuantities(history.baseFeePerGas, 'baseFeePerGas'),
    gasUsedRatio: decodeRatios(history.gasUsedRatio, 'gasUsedRatio'),
    reward: decodeOptional(history.reward, 'reward', (rows, path) => decodeList(rows, path, decodeQuantities)),
    baseFeePerBlobGas: decodeOptional(history.baseFeePerBlobGas, 'baseFeePerBlobGas', decodeQuantities),
    blobGasUsedRatio: decodeOptional(history.blobGasUsedRatio, 'blobGasUsedRatio', decodeRatios),
  }
}
