import type { Log } from '@keyrail/fetch'
import { encodeAbiParameters, encodeEventTopics, parseAbiItem, parseAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import { getLogFormat } from './decodedFormat.ts'
import { logFormats, parseBlockNumber } from './logFormat.ts'

const from = `0x${'ab'.repeat(20)}` as const
const event = 'Noted(address indexed from, string indexed tag, string note, int256[] amounts, bool)'
const topics = encodeEventTopics({
  abi: [parseAbiItem(`event ${event}`)],
  args: { from, tag: 'a tag' },
} as never) as unknown as Log['topics']
const log: Log = {
  address: `0x${'c0'.repeat(20)}`,
  topics,
  data: encodeAbiParameters(parseAbiParameters('string, int256[], bool'), ['"ä",\n', [-1n, 2n ** 200n], true]),
  blockHash: `0x${'b0'.repeat(32)}`,
  blockNumber: 21_000_000n,
  blockTimestamp: 1_700_000_000n,
  transactionHash: `0x${'70'.repeat(32)}`,
  transactionIndex: 3,
  logIndex: 7,
  removed: false,
}
const ndjson = getLogFormat({ format: 'ndjson', decode: event })
const csv = getLogFormat({ format: 'csv', decode: event })

describe('getLogFormat', () => {
  test('without an event is the format itself', () => {
    expect(getLogFormat({ format: 'csv' })).toBe(logFormats.csv)
  })

  test('NDJSON has the parameters by name', () => {
    const line = ndjson.line(log)
    expect(JSON.parse(line)).toEqual({
      ...(JSON.parse(logFormats.ndjson.line(log)) as object),
      decoded: { from, tag: topics[2], note: '"ä",\n', amounts: ['-1', String(2n ** 200n)], arg4: true },
    })
    expect(line).toMatch(/^[ -~]+\n$/)
    expect(parseBlockNumber(line)).toBe(21_000_000)
  })

  test('CSV has a column for each parameter', () => {
    expect(csv.header).toBe(
      `${logFormats.csv.header.trimEnd()},decoded_from,decoded_tag,decoded_note,decoded_amounts,decoded_arg4\r\n`,
    )
    const note = String.raw`"""\""\u00e4\"",\n"""`
    const amounts = `"[""-1"",""${2n ** 200n}""]"`
    expect(csv.line(log)).toBe(`${logFormats.csv.line(log).trimEnd()},${from},${topics[2]},${note},${amounts},true\r\n`)
  })

  const undecoded = { from: null, tag: null, note: null, amounts: null, arg4: null }
  test.each<[string, Log, object | null]>([
    ['has other indexed parameters', { ...log, topics: topics.slice(0, 2) }, null],
    ['is too short', { ...log, data: '0x12' }, undecoded],
    ['has an invalid topic', { ...log, topics: [topics[0], `0x${'ff'.repeat(32)}`, topics[2]] as never }, undecoded],
  ])('a log that %s is not decoded', (_what, wrong, decoded) => {
    expect(JSON.parse(ndjson.line(wrong))).toMatchObject({ decoded })
    expect(csv.line(wrong)).toBe(`${logFormats.csv.line(wrong).trimEnd()},,,,,\r\n`)
  })

  test('a string that is not UTF-8 is null, next to the other parameters', () => {
    const wrong = { ...log, data: log.data.replace(/22c3a4/, '22ffff') as Log['data'] }
    expect(wrong.data).not.toBe(log.data)
    expect(JSON.parse(ndjson.line(wrong))).toMatchObject({
      data: wrong.data,
      decoded: { from, tag: topics[2], note: null, amounts: ['-1', String(2n ** 200n)], arg4: true },
    })
    expect(csv.line(wrong)).toContain(`,${from},${topics[2]},,"[""-1""`)
  })
})
