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
 * @param value - What the node sent.
 * @param what - Its path in the response, for the error message. @default 'log'
 * @throws {KeyrailError} kind `badResponse`, with the name of the malformed or missing field.
 * @example
 * const logs = (await client.eth_getLogs({ fromBlock: '0x1' })).map((log) => decodeLog(log))
 * @see execution-apis, schema `Log`
 */
export function decodeLog(value: unknown, what = 'log'): Log {
  const log = decodeObject<keyof Log>(value, what)
  return {
    ...log,
    address: decodeHex(log.address, `${what}.address`, 20),
    topics: decodeList(log.topics, `${what}.topics`, (topic, at) => decodeHex(topic, at, 32)),
    data: decodeHex(log.data, `${what}.data`),
    blockHash: decodeHex(log.blockHash, `${what}.blockHash`, 32),
    blockNumber: decodeQuantity(log.blockNumber, `${what}.blockNumber`),
    blockTimestamp: decodeOptional(log.blockTimestamp, `${what}.blockTimestamp`, decodeQuantity),
    transactionHash: decodeHex(log.transactionHash, `${what}.transactionHash`, 32),
    transactionIndex: decodeNumber(log.transactionIndex, `${what}.transactionIndex`),
    logIndex: decodeNumber(log.logIndex, `${what}.logIndex`),
    removed: log.removed === true,
  }
}
