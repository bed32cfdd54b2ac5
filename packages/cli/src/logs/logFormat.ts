import type { Log } from '@keyrail/fetch'

/** A line format: a header, and a line for each log, with its terminator. */
export interface LogFormat {
  readonly header: string
  readonly line: (log: Log) => string
}

/** The name of a format with a line for each log. */
export type LineFormatName = 'ndjson' | 'csv'
/** The name of an output format. */
export type LogFormatName = LineFormatName | 'parquet'

const columns = [
  'blockNumber',
  'blockHash',
  'blockTimestamp',
  'transactionHash',
  'transactionIndex',
  'logIndex',
  'address',
  'topic0',
  'topic1',
  'topic2',
  'topic3',
  'data',
]

/**
 * The line formats. Lines of both start with the block number, which a rollback after a reorg relies on.
 * A log contains only validated hex and numbers, so no value ever needs quoting or escaping.
 *
 * @see RFC 4180 (lines of CSV end with CR LF)
 */
export const logFormats: Readonly<Record<LineFormatName, LogFormat>> = {
  ndjson: {
    header: '',
    line: (log) => {
      const topics = log.topics.length === 0 ? '' : `"${log.topics.join('","')}"`
      return (
        `{"blockNumber":${log.blockNumber},"blockHash":"${log.blockHash}","blockTimestamp":${log.blockTimestamp ?? null}` +
        `,"transactionHash":"${log.transactionHash}","transactionIndex":${log.transactionIndex},"logIndex":${log.logIndex}` +
        `,"address":"${log.address}","topics":[${topics}],"data":"${log.data}"}\n`
      )
    },
  },
  csv: {
    header: `${columns.join(',')}\r\n`,
    line: (log) => {
      const [topic0 = '', topic1 = '', topic2 = '', topic3 = ''] = log.topics
      return (
        `${log.blockNumber},${log.blockHash},${log.blockTimestamp ?? ''},${log.transactionHash},${log.transactionIndex}` +
        `,${log.logIndex},${log.address},${topic0},${topic1},${topic2},${topic3},${log.data}\r\n`
      )
    },
  },
}

/** Parses the block number of a log's line; undefined if the line is not a log. */
export function parseBlockNumber(line: string): number | undefined {
  const [, number] = /^(?:\{"blockNumber":)?(\d+),/.exec(line) ?? []
  return number === undefined ? undefined : Number(number)
}
