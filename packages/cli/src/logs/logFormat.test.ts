import type { Log } from '@keyrail/fetch'
import { describe, expect, test } from 'vitest'
import { parseBlockNumber, logFormats } from './logFormat.ts'

const log: Log = {
  address: `0x${'c0'.repeat(20)}`,
  topics: [`0x${'e0'.repeat(32)}`, `0x${'e1'.repeat(32)}`],
  data: '0x01',
  blockHash: `0x${'b0'.repeat(32)}`,
  blockNumber: 21_000_000n,
  blockTimestamp: 1_700_000_000n,
  transactionHash: `0x${'70'.repeat(32)}`,
  transactionIndex: 3,
  logIndex: 7,
  removed: false,
}
const bare: Log = { ...log, topics: [], data: '0x', blockTimestamp: undefined }

describe('logFormats', () => {
  test('NDJSON has one log per line, with JSON numbers', () => {
    const { removed: _removed, ...rest } = log
    expect(JSON.parse(logFormats.ndjson.line(log))).toEqual({
      ...rest,
      blockNumber: 21_000_000,
      blockTimestamp: 1_700_000_000,
    })
    expect(JSON.parse(logFormats.ndjson.line(bare))).toMatchObject({ topics: [], data: '0x', blockTimestamp: null })
    expect(logFormats.ndjson.line(log)).toMatch(/^[^\n]+\n$/)
  })

  test('CSV starts with the column names, and every line has a cell for each', () => {
    const columns = logFormats.csv.header.trimEnd().split(',')
    expect(columns).toEqual([
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
    ])
    expect(logFormats.csv.line(log)).toBe(
      `21000000,${log.blockHash},1700000000,${log.transactionHash},3,7,${log.address},${log.topics.join(',')},,,0x01\r\n`,
    )
    expect(logFormats.csv.line(bare).split(',')).toHaveLength(columns.length)
    expect(logFormats.csv.header).toMatch(/^[^\r\n]+\r\n$/)
  })

  test('parseBlockNumber parses lines of both formats, but not headers', () => {
    for (const { header, line } of Object.values(logFormats)) {
      expect(parseBlockNumber(line(log))).toBe(21_000_000)
      expect(parseBlockNumber(header)).toBeUndefined()
    }
  })
})
