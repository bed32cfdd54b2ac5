import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Log, LogCursor } from '@keyrail/fetch'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { logFormats } from './logFormat.ts'
import type { LogFormatName } from './logFormat.ts'
import { openLogFile } from './logFile.ts'
import type { LogFile } from './logFile.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { Checkpoint } from './checkpoint.ts'

let folder = ''
let path = ''
let cursorPath = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  path = join(folder, 'logs')
  cursorPath = `${path}.cursor`
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const logAt = (block: number, logIndex: number): Log => ({
  address: `0x${'c0'.repeat(20)}`,
  topics: [],
  data: '0x',
  blockHash: `0x${'b0'.repeat(32)}`,
  blockNumber: BigInt(block),
  blockTimestamp: undefined,
  transactionHash: `0x${'70'.repeat(32)}`,
  transactionIndex: 0,
  logIndex,
  removed: false,
})
const text = (format: LogFormatName, ...places: readonly (readonly [number, number])[]): string =>
  logFormats[format].head + places.map(([block, index]) => logFormats[format].line(logAt(block, index))).join('')
const take = (file: LogFile, block: number, logIndex: number): void => {
  void file.take(logAt(block, logIndex), { nextBlock: block, nextLogIndex: logIndex + 1 })
}
const reached = (nextBlock: number): LogCursor => ({ nextBlock, nextLogIndex: 0 })
const begin = (format: LogFormatName = 'csv'): LogFile =>
  openLogFile(path, cursorPath, {
    settings: { from: 10, to: 'latest', address: [], topics: [], format },
    chainId: 1,
    fromBlock: 10,
    toBlock: 99,
  })
const goOn = (): LogFile => openLogFile(path, cursorPath, readCheckpoint(cursorPath) as Checkpoint)
const written = (): string => readFileSync(path, 'latin1')

describe.each(['csv', 'ndjson'] as const)('a file of logs, as %s', (format) => {
  test('holds every log, and leaves nothing beside it', () => {
    const file = begin(format)
    // A process that was killed while it kept how far it had come.
    writeFileSync(`${cursorPath}.new`, '{')
    take(file, 10, 0)
    take(file, 12, 0)
    file.reach(reached(100))
    file.finish()
    expect(written()).toBe(text(format, [10, 0], [12, 0]))
    expect(readdirSync(folder)).toEqual(['logs'])
  })

  test('is gone on with after it was left in the middle of a block', () => {
    const first = begin(format)
    take(first, 10, 0)
    take(first, 10, 1)
    first.leave()
    const second = goOn()
    expect(second.cursor()).toEqual({ nextBlock: 10, nextLogIndex: 2 })
    expect(second.logs()).toBe(2)
    take(second, 10, 2)
    second.finish()
    expect(written()).toBe(text(format, [10, 0], [10, 1], [10, 2]))
  })

  test('is cut to what was kept, where a killed process wrote more', () => {
    const first = begin(format)
    take(first, 10, 0)
    first.leave()
    // What came after the last time that it was kept: a whole log and a part of one.
    writeFileSync(path, `${text(format, [10, 0], [11, 0])}12,0x`)
    const second = goOn()
    take(second, 11, 0)
    second.finish()
    expect(written()).toBe(text(format, [10, 0], [11, 0]))
  })

  test('can be gone on with before anything was written', () => {
    begin(format)
    rmSync(path)
    const file = goOn()
    take(file, 10, 0)
    file.finish()
    expect(written()).toBe(text(format, [10, 0]))
  })

  test('takes logs back, and keeps that at once', () => {
    const file = begin(format)
    for (const block of [10, 11, 11, 12]) take(file, block, 0)
    const taken = file.takeBack({ fromBlock: 11n, cursor: reached(11) })
    expect(taken).toBe(3)
    expect(written()).toBe(text(format, [10, 0]))
    expect(readCheckpoint(cursorPath)).toMatchObject({ logs: 1, bytes: statSync(path).size, cursor: reached(11) })
    take(file, 11, 5)
    file.finish()
    expect(written()).toBe(text(format, [10, 0], [11, 5]))
  })
})

describe('a file of logs that is gone on with', () => {
  const left = (): string => {
    const file = begin()
    take(file, 10, 0)
    take(file, 10, 1)
    file.leave()
    return written()
  }

  test.each<[string, (before: string) => string]>([
    ['shorter', (before) => before.slice(0, -1)],
    ['another', (before) => before.replaceAll('0,0x', '1,0x')],
    ['empty', () => ''],
  ])('is rejected unchanged where it is %s than it was left', (_what, change) => {
    const changed = change(left())
    writeFileSync(path, changed)
    expect(goOn).toThrow(expect.objectContaining({ hint: expect.stringContaining('--overwrite') }))
    expect(written()).toBe(changed)
  })

  test.each([['{'], ['[]'], ['{"version":2}'], ['null'], ['']])('is rejected where its cursor is %j', (broken) => {
    left()
    writeFileSync(cursorPath, broken)
    expect(goOn).toThrow(expect.objectContaining({ hint: expect.stringContaining('--overwrite') }))
  })
})

test.skipIf(!existsSync('/dev/null'))('what is no file is rejected', () => {
  path = '/dev/null'
  expect(begin).toThrow(expect.objectContaining({ message: '/dev/null is no file' }))
})

test('a folder that is not there is told with the fix', () => {
  path = join(folder, 'no', 'logs')
  cursorPath = `${path}.cursor`
  expect(begin).toThrow(
    expect.objectContaining({ message: `${path} cannot be used (ENOENT)`, hint: 'make its folder first' }),
  )
})
