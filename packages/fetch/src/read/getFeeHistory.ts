import { checkNames } from '@keyrail/core'
import { decodeOptional } from '../decode/decodeOptional.ts'
import { decodeList } from '../decode/decodeList.ts'
import { decodeObject } from '../decode/decodeObject.ts'
import { decodeQuantity } from '../decode/decodeQuantity.ts'
import { malformed } from '../decode/malformed.ts'
import type { BlockNumberInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeQuantity } from '../encode/encodeQuantity.ts'
import type { ReadClient } from './readClient.ts'

/** The fees of a range of blocks, decoded. Members that are not declared here are as the node sent them. */
export interface FeeHistory {
  readonly oldestBlock: bigint
  /** In wei for each unit of gas; one more than there are blocks, for the block after the newest. */
  readonly baseFeePerGas: readonly bigint[]
  /** Of each block, between 0 and 1. */
  readonly gasUsedRatio: readonly number[]
  /** Of each block, the tips at the percentiles asked for, in wei for each unit of gas. Undefined where none were asked for. */
  readonly reward: readonly (readonly bigint[])[] | undefined
  /** In wei for each unit of blob gas; one more than there are blocks. Undefined where the node does not know blobs. */
  readonly baseFeePerBlobGas: readonly bigint[] | undefined
  /** Of each block, between 0 and 1. Undefined where the node does not know blobs. */
  readonly blobGasUsedRatio: readonly number[] | undefined
}

const decodeQuantities = (value: unknown, what: string): bigint[] => decodeList(value, what, decodeQuantity)

const decodeRatios = (value: unknown, what: string): number[] =>
  decodeList(value, what, (ratio, at) => {
    if (typeof ratio !== 'number') throw malformed(at, 'a number')
    return ratio
  })

/**
 * The fees of the last blocks.
 *
 * @param client - A client.
 * @param options.blockCount - How many blocks, 1 to 1024; a node may answer with fewer.
 * @param options.newestBlock - The last of them. @default 'latest'
 * @param options.rewardPercentiles - Which tips to tell of, each 0 to 100, rising. @default none
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a broken answer; else as the call.
 * @example
 * const { baseFeePerGas, reward } = await getFeeHistory(client, { blockCount: 4, rewardPercentiles: [50] })
 */
export async function getFeeHistory(
  client: ReadClient<'eth_feeHistory'>,
  options: {
    readonly blockCount: bigint | number
    readonly newestBlock?: BlockNumberInput | undefined
    readonly rewardPercentiles?: readonly number[] | undefined
  },
): Promise<FeeHistory> {
  checkNames('getFeeHistory', options, ['blockCount', 'newestBlock', 'rewardPercentiles'])
  const wire = await client.eth_feeHistory(
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
    reward: decodeOptional(history.reward, 'reward', (rows, what) => decodeList(rows, what, decodeQuantities)),
    baseFeePerBlobGas: decodeOptional(history.baseFeePerBlobGas, 'baseFeePerBlobGas', decodeQuantities),
    blobGasUsedRatio: decodeOptional(history.blobGasUsedRatio, 'blobGasUsedRatio', decodeRatios),
  }
}
