import type { CallOptions, Hex } from '@keyrail/core'
import { decodeList } from '../decode/decodeList.ts'
import { decodeLog } from '../decode/decodeLog.ts'
import type { Log } from '../decode/log.ts'
import type { MinedBlockNumberInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { invalidOption } from '../encode/invalidOption.ts'
import { encodeLogQuery } from '../logs/encodeLogQuery.ts'
import type { LogQuery } from '../logs/logQuery.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/** The logs of a range of blocks. */
export interface LogRangeQuery extends LogQuery {
  /** The first block. @default 'latest' */
  readonly fromBlock?: MinedBlockNumberInput | undefined
  /** The last block. @default 'latest' */
  readonly toBlock?: MinedBlockNumberInput | undefined
  readonly blockHash?: undefined
}

/** The logs of one block, by its hash. EIP-234. */
export interface LogBlockQuery extends LogQuery {
  readonly blockHash: Hex
  readonly fromBlock?: undefined
  readonly toBlock?: undefined
}

/**
 * Returns the matching logs, in chain order. For a range that one call may be too small for, use `iterateLogs`.
 *
 * @param client - A client.
 * @param options - A range of blocks or one block's hash, contracts, topics, and call options such as `signal` and `timeoutMs`.
 * @throws {KeyrailError} kind `range` if the node rejects so many blocks or logs, `invalidRequest` for a wrong option, `badResponse` for
 *   a malformed response, otherwise the failure of the call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const logs = await getLogs(client, { address: account, fromBlock: 21_000_000n, toBlock: 21_000_099n, timeoutMs: 20_000 })
 */
export async function getLogs(
  client: ReadClient<'eth_getLogs'>,
  options: CallOptions & (LogRangeQuery | LogBlockQuery),
): Promise<Log[]> {
  const own = ['address', 'topics', 'fromBlock', 'toBlock', 'blockHash']
  const reader = bindCallOptions('getLogs', client, options, own)
  const { blockHash, fromBlock, toBlock } = options
  // An undefined end is the tag latest: only the node knows whether a number is above it.
  const hasBoth = fromBlock !== undefined && toBlock !== undefined
  if (hasBoth && typeof fromBlock !== 'string' && typeof toBlock !== 'string' && fromBlock > toBlock)
    throw invalidOption(`fromBlock (${fromBlock}) must not be above toBlock (${toBlock})`)
  const query = encodeLogQuery(options)
  const wire = await reader.eth_getLogs(
    blockHash === undefined
      ? { ...query, fromBlock: encodeBlock(fromBlock, 'fromBlock'), toBlock: encodeBlock(toBlock, 'toBlock') }
      : { ...query, blockHash: encodeHex(blockHash, 'blockHash', 32) },
  )
  return decodeList(wire, 'logs', decodeLog)
}
