import { checkNames } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import { decodeList } from '../decode/decodeList.ts'
import { decodeLog } from '../decode/decodeLog.ts'
import type { Log } from '../decode/log.ts'
import type { MinedBlockNumberInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { invalidOption } from '../encode/invalidOption.ts'
import { encodeLogQuery } from '../logs/encodeLogQuery.ts'
import type { LogQuery } from '../logs/logQuery.ts'
import type { ReadClient } from './readClient.ts'

/** Logs of a range of blocks. */
export interface LogRangeQuery extends LogQuery {
  /** The first block. @default 'latest' */
  readonly fromBlock?: MinedBlockNumberInput | undefined
  /** The last block. @default 'latest' */
  readonly toBlock?: MinedBlockNumberInput | undefined
  readonly blockHash?: undefined
}

/** Logs of one block, by its hash. EIP-234. */
export interface LogBlockQuery extends LogQuery {
  readonly blockHash: Hex
  readonly fromBlock?: undefined
  readonly toBlock?: undefined
}

/**
 * The logs that match, in their order on the chain.
 *
 * @param client - A client.
 * @param options - A range of blocks or one block's hash; contracts; topics.
 * @throws {KeyrailError} kind `range` where the node refuses so many blocks or logs; `invalidRequest` for a wrong option,
 *   `badResponse` for a broken answer; else as the call.
 * @example
 * const logs = await getLogs(client, { address: account, fromBlock: 21_000_000n, toBlock: 21_000_099n })
 */
export async function getLogs(
  client: ReadClient<'eth_getLogs'>,
  options: LogRangeQuery | LogBlockQuery,
): Promise<Log[]> {
  checkNames('getLogs', options, ['address', 'topics', 'fromBlock', 'toBlock', 'blockHash'])
  const { blockHash, fromBlock, toBlock } = options
  // Undefined is the tag latest: whether a number is above it, only the node can tell.
  const given = fromBlock !== undefined && toBlock !== undefined
  if (given && typeof fromBlock !== 'string' && typeof toBlock !== 'string' && fromBlock > toBlock)
    throw invalidOption(`fromBlock (${fromBlock}) must not be above toBlock (${toBlock})`)
  const condition = encodeLogQuery(options)
  const wire = await client.eth_getLogs(
    blockHash === undefined
      ? { ...condition, fromBlock: encodeBlock(fromBlock, 'fromBlock'), toBlock: encodeBlock(toBlock, 'toBlock') }
      : { ...condition, blockHash: encodeHex(blockHash, 'blockHash', 32) },
  )
  return decodeList(wire, 'logs', decodeLog)
}
