import { sortLogs } from '@keyrail/core/internal'
import type { LogFilter } from '@keyrail/core'
import { decodeList } from '../decode/decodeList.ts'
import { decodeLog } from '../decode/decodeLog.ts'
import type { Log } from '../decode/log.ts'
import { malformed } from '../decode/malformed.ts'
import type { ReadClient } from '../read/readClient.ts'

/**
 * Reads logs, checks that they belong to the requested blocks, sorts them in chain order and removes repeated ones.
 *
 * @param client - A client.
 * @param filter - The filter to send.
 * @param belongs - Whether a log is in a requested block. (A node ignores the fields of a filter that it does not know.)
 * @throws {KeyrailError} kind `badResponse` for a malformed response; otherwise the failure of the call.
 */
export async function readLogs(
  client: ReadClient<'eth_getLogs'>,
  filter: LogFilter,
  belongs: (log: Log) => boolean,
): Promise<Log[]> {
  const logs = decodeList(await client.eth_getLogs(filter), 'logs', decodeLog)
  if (!logs.every(belongs)) throw malformed('logs', 'limited to the requested blocks')
  return sortLogs(logs.map((log) => ({ log, number: Number(log.blockNumber), index: log.logIndex })))
}
