import { decodeOptional } from './decodeOptional.ts'
import { decodeHex } from './decodeHex.ts'
import { decodeList } from './decodeList.ts'
import { decodeNumber } from './decodeNumber.ts'
import { decodeObject } from './decodeObject.ts'
import { decodeQuantity } from './decodeQuantity.ts'
import type { Log } from './log.ts'

/**
 * Decodes a log.
 *
 * @param value - The value that the node sent.
 * @param path - Its path in the response, for the error message. @default 'log'
 * @throws {KeyrailError} kind `badResponse`, with the name of the malformed or missing field.
 * @example
 * const logs = (await client.eth_getLogs({ fromBlock: '0x1' })).map((log) => decodeLog(log))
 * @see execution-apis, schema `Log`
 */
export function decodeLog(value: unknown, path = 'log'): Log {
  const log = decodeObject<keyof Log>(value, path)
  return {
    ...log,
    address: decodeHex(log.address, `${path}.address`, 20),
    topics: decodeList(log.topics, `${path}.topics`, (topic, at) => decodeHex(topic, at, 32)),
    data: decodeHex(log.data, `${path}.data`),
    blockHash: decodeHex(log.blockHash, `${path}.blockHash`, 32),
    blockNumber: decodeQuantity(log.blockNumber, `${path}.blockNumber`),
    blockTimestamp: decodeOptional(log.blockTimestamp, `${path}.blockTimestamp`, decodeQuantity),
    transactionHash: decodeHex(log.transactionHash, `${path}.transactionHash`, 32),
    transactionIndex: decodeNumber(log.transactionIndex, `${path}.transactionIndex`),
    logIndex: decodeNumber(log.logIndex, `${path}.logIndex`),
    removed: log.removed === true,
  }
}
