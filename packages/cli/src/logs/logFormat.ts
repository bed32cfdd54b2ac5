import type { Log } from '@keyrail/fetch'

/** How logs are written: what stands first, and the line of each log, its end included. */
export interface LogFormat {
  readonly head: string
  readonly line: (log: Log) => string
}

/** A format that `keyrail logs` writes. */
export type LogFormatName = 'ndjson' | 'csv'

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
 * The formats. Both begin a line with the block's number, by which lines can be taken back.
 * A log holds only checked hex and numbers, so nothing of it ever needs a quote or an escape, whatever a node sends.
 *
 * @see RFC 4180 (CSV: lines end with CR LF)
 */
export const logFormats: Readonly<Record<LogFormatName, LogFormat>> = {
  ndjson: {
    head: '',
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
    head: `${columns.join(',')}\r\n`,
    line: (log) => {
      const [topic0 = '', topic1 = '', topic2 = '', topic3 = ''] = log.topics
      return (
        `${log.blockNumber},${log.blockHash},${log.blockTimestamp ?? ''},${log.transactionHash},${log.transactionIndex}` +
        `,${log.logIndex},${log.address},${topic0},${topic1},${topic2},${topic3},${log.data}\r\n`
      )
    },
  },
}

/** The number of the block that a line is of; undefined for what is no line of a log. */
export function parseBlockNumber(line: string): number | undefined {
  const [, number] = /^(?:\{"blockNumber":)?(\d+),/.exec(line) ?? []
  return number === undefined ? undefined : Number(number)
}
