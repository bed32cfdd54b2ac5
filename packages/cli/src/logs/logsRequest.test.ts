import { describe, expect, test } from 'vitest'
import type { ReadArguments } from '../arguments/command.ts'
import { toEventTopic } from './toEventTopic.ts'
import { readLogsRequest } from './logsRequest.ts'

const address = `0x${'Ab'.repeat(20)}`
const other = `0x${'12'.repeat(20)}`
const topic = `0x${'CD'.repeat(32)}`

/** Creates parsed arguments. */
function given(
  options: Readonly<Record<string, string | readonly string[] | true>>,
  words: string[] = [],
): ReadArguments {
  const texts = (name: string): string[] => [options[name] ?? []].flat().filter((value) => value !== true) as string[]
  return {
    text: (name) => texts(name).at(-1),
    texts,
    flag: (name) => options[name] === true,
    positionals: words,
  }
}

describe('readLogsRequest', () => {
  test('applies defaults', () => {
    expect(readLogsRequest(given({ from: '12' }))).toEqual({
      from: 12,
      to: 'latest',
      address: [],
      topics: [],
      format: 'ndjson',
      decode: undefined,
      out: undefined,
      overwrite: false,
      concurrency: undefined,
      maxBlocks: undefined,
    })
  })

  test.each([
    ['0x1f', 31],
    ['earliest', 'earliest'],
    ['finalized', 'finalized'],
    ['9007199254740991', 2 ** 53 - 1],
  ])('accepts %s as a block', (from, block) => {
    expect(readLogsRequest(given({ from, to: 'latest' })).from).toBe(block)
  })

  test('accepts several addresses, sorted and without duplicates', () => {
    const request = readLogsRequest(given({ from: '0', address: [`${address}, ${other}`, address.toLowerCase()] }))
    expect(request.address).toEqual([other, address.toLowerCase()])
  })

  test('puts topics in their positions, and omits the ones after the last', () => {
    const request = readLogsRequest(given({ from: '0', topic2: `${topic},${address}` }))
    expect(request.topics).toEqual([
      null,
      null,
      [`0x${address.slice(2).toLowerCase().padStart(64, '0')}`, topic.toLowerCase()],
    ])
  })

  test('converts events to topic 0', () => {
    const request = readLogsRequest(given({ from: '0', event: ['Paused()', 'Unpaused()'], topic1: topic }))
    expect(request.topics).toEqual([
      [toEventTopic('Paused()'), toEventTopic('Unpaused()')].sort(),
      [topic.toLowerCase()],
    ])
  })

  test.each<[string, string | undefined, string]>([
    ['a.csv', undefined, 'csv'],
    ['a.CSV', undefined, 'csv'],
    ['a.ndjson', undefined, 'ndjson'],
    ['a', undefined, 'ndjson'],
    ['a.jsonl', undefined, 'ndjson'],
    ['a.csv.gz', undefined, 'csv'],
    ['a.gz', undefined, 'ndjson'],
    ['a.csv', 'ndjson', 'ndjson'],
    ['a.txt', 'csv', 'csv'],
    ['a.parquet', undefined, 'parquet'],
    ['a', 'parquet', 'parquet'],
  ])('writes %s with --format %s as %s', (out, format, written) => {
    expect(readLogsRequest(given({ from: '0', out, ...(format && { format }) })).format).toBe(written)
  })

  test('accepts - for standard output', () => {
    expect(readLogsRequest(given({ from: '0', out: '-' })).out).toBeUndefined()
  })

  test.each<[string, Parameters<typeof given>, RegExp, RegExp | undefined]>([
    ['an argument', [{ from: '0' }, ['0xabc']], /no arguments, only options/, /--help/],
    ['no first block', [{}], /needs --from/, /--from/],
    ['an unsupported tag', [{ from: 'pending' }], /--from must be a block/, /latest/],
    ['a block too large', [{ from: '9007199254740992' }], /--from must be a block/, /number/],
    ['a negative block', [{ from: '0', to: '-1' }], /--to must be a block/, /number/],
    ['a fraction', [{ from: '1.5' }], /--from must be a block/, /number/],
    ['a reversed range', [{ from: '9', to: '8' }], /--from \(9\) is above --to \(8\)/, /swap/],
    [
      'a name for an address',
      [{ from: '0', address: 'vitalik.eth' }],
      /^--address must be a contract address/,
      /40 hex digits/,
    ],
    ['a second wrong address', [{ from: '0', address: `${address},0x12` }], /^address 2 of --address/, /40 hex/],
    ['an empty address', [{ from: '0', address: `${address},` }], /^address 2 of --address/, /40 hex/],
    ['a short topic', [{ from: '0', topic1: '0x12' }], /--topic1 must be a topic/, /or an address/],
    ['an address as topic 0', [{ from: '0', topic0: address }], /--topic0 must be a topic/, /--event/],
    ['an event and topic 0', [{ from: '0', topic0: topic, event: 'Paused()' }], /cannot be combined/, /topic 0/],
    ['an unknown format', [{ from: '0', format: 'xml' }], /--format must be ndjson, csv or parquet/, undefined],
    ['an unknown file ending', [{ from: '0', out: 'a.Xls' }], /^--out has an unknown ending: .xls$/, /--format/],
    ['--decode without an event', [{ from: '0', decode: true }], /^--decode needs exactly one --event$/, /indexed/],
    ['--decode with two', [{ from: '0', decode: true, event: ['A()', 'B()'] }], /needs exactly one/, /indexed/],
    [
      'more indexed parameters than topics',
      [{ from: '0', decode: true, event: 'A(bool indexed, bool indexed, bool indexed, bool indexed)' }],
      /more than three indexed/,
      /four topics/,
    ],
    ['Parquet on standard output', [{ from: '0', format: 'parquet' }], /^Parquet needs a file$/, /--out/],
    ['Parquet in gzip', [{ from: '0', out: 'a.parquet.gz' }], /compressed already/, /without .gz/],
    ['--overwrite without a file', [{ from: '0', overwrite: true }], /--overwrite needs a file/, /--out/],
  ])('rejects %s with a hint', (_what, words, message, hint) => {
    expect(() => readLogsRequest(given(...words))).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringMatching(message),
        hint: hint && expect.stringMatching(hint),
      }),
    )
  })

  test.each([
    ['concurrency', '65'],
    ['concurrency', '0'],
    ['max-blocks', '0'],
    ['max-blocks', 'many'],
  ])('rejects --%s %s with the allowed range', (name, value) => {
    expect(() => readLogsRequest(given({ from: '0', [name]: value }))).toThrow(
      `--${name} must be a whole number from 1`,
    )
  })

  test('never repeats a value, which may be a misplaced key', () => {
    for (const name of ['from', 'to', 'address', 'topic0', 'topic1', 'event', 'format', 'concurrency']) {
      let message = ''
      try {
        readLogsRequest(given({ from: '0', [name]: 'kr_aSecretSecret' }))
      } catch (error) {
        message = `${(error as Error).message} ${(error as { hint?: string }).hint}`
      }
      expect(message).toContain(name)
      expect(message).not.toContain('Secret')
    }
  })
})
