import type { Log, LogCursor } from '@keyrail/fetch'
import { expect, test } from 'vitest'
import type { LogSink } from './logSink.ts'
import { noteUndecoded } from './noteUndecoded.ts'

const cursor: LogCursor = { nextBlock: 0, nextLogIndex: 0 }
const topic = `0x${'00'.repeat(32)}` as const
const createLog = (indexed: number): Log => ({
  address: `0x${'c0'.repeat(20)}`,
  topics: Array.from({ length: indexed + 1 }, () => topic) as unknown as Log['topics'],
  data: '0x',
  blockHash: topic,
  blockNumber: 7n,
  blockTimestamp: undefined,
  transactionHash: topic,
  transactionIndex: 0,
  logIndex: 0,
  removed: false,
})

/** Writes logs with these numbers of indexed parameters. @returns The notes, and how many logs were written. */
function write(event: string | undefined, indexed: readonly number[]) {
  const notes: string[] = []
  let written = 0
  const sink: LogSink = {
    cursor: () => cursor,
    logs: () => written,
    write: () => void written++,
    advance: () => {},
    rollBack: () => 0,
  }
  const checked = noteUndecoded(sink, event, (line) => notes.push(line))
  for (const count of indexed) void checked.write(createLog(count), cursor)
  return { notes, written }
}

test('an event without "indexed" is reported once, instead of an export without a decoded parameter', () => {
  const { notes, written } = write('Transfer(address,address,uint256)', [2, 2])
  expect(written).toBe(2)
  expect(notes).toEqual([
    'keyrail: a log of block 7 is not decoded: it has 2 indexed parameters, and --event has 0',
    expect.stringContaining('mark the indexed parameters'),
  ])
})

test.each([
  ['that match', 'Transfer(address indexed from, address indexed to, uint256 value)'],
  ['without --decode', undefined],
])('logs %s need no note', (_what, event) => {
  expect(write(event, [2, 2])).toEqual({ notes: [], written: 2 })
})
