import type { LogFilter } from '@keyrail/core'
import { decodeList } from '../decode/decodeList.ts'
import { decodeLog } from '../decode/decodeLog.ts'
import type { Log } from '../decode/log.ts'
import { malformed } from '../decode/malformed.ts'
import type { ReadClient } from '../read/readClient.ts'

/**
 * Reads logs, sees that they are of the blocks that were asked for, and puts them in the order of the chain, which some balancers lose.
 *
 * @param client - A client.
 * @param filter - What is asked for.
 * @param belongs - Whether a log is of a block that was asked for. (A node that does not know a filter's field passes over it.)
 * @throws {KeyrailError} kind `badResponse` for a broken answer; else as the call.
 */
export async function readLogs(
  client: ReadClient<'eth_getLogs'>,
  filter: LogFilter,
  belongs: (log: Log) => boolean,
): Promise<Log[]> {
  const logs = decodeList(await client.eth_getLogs(filter), 'logs', decodeLog)
  if (!logs.every(belongs)) throw malformed('logs', 'of the blocks that were asked for')
  return logs.sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex)
}
