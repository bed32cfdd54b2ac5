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
let checkpointPath = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  path = join(folder, 'logs')
  checkpointPath = `${path}.cursor`
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
  logFormats[format].header + places.map(([block, index]) => logFormats[format].line(logAt(block, index))).join('')
const write = (file: LogFile, block: number, logIndex: number): void => {
  void file.write(logAt(block, logIndex), { nextBlock: block, nextLogIndex: logIndex + 1 })
}
const cursorAt = (nextBlock: number): LogCursor => ({ nextBlock, nextLogIndex: 0 })
const create = (format: LogFormatName = 'csv'): LogFile =>
  openLogFile(path, checkpointPath, {
    settings: { from: 10, to: 'latest', address: [], topics: [], format },
    chainId: 1,
    fromBlock: 10,
    toBlock: 99,
  })
const resume = (): LogFile => openLogFile(path, checkpointPath, readCheckpoint(checkpointPath) as Checkpoint)
const read = (): string => readFileSync(path, 'latin1')

describe.each(['csv', 'ndjson'] as const)('a %s log file', (format) => {
  test('contains every log and leaves no other file', () => {
    const file = create(format)
    // A process was killed while it wrote a checkpoint.
    writeFileSync(`${checkpointPath}.new`, '{')
    write(file, 10, 0)
    write(file, 12, 0)
    file.advance(cursorAt(100))
    file.finish()
    expect(read()).toBe(text(format, [10, 0], [12, 0]))
    expect(readdirSync(folder)).toEqual(['logs'])
  })

  test('resumes in the middle of a block', () => {
    const first = create(format)
    write(first, 10, 0)
    write(first, 10, 1)
    first.close()
    const second = resume()
    expect(second.cursor()).toEqual({ nextBlock: 10, nextLogIndex: 2 })
    expect(second.logs()).toBe(2)
    write(second, 10, 2)
    second.finish()
    expect(read()).toBe(text(format, [10, 0], [10, 1], [10, 2]))
  })

  test('truncates the file to the checkpoint after a kill', () => {
    const first = create(format)
    write(first, 10, 0)
    first.close()
    // Written after the last checkpoint: one complete log and a partial one.
    writeFileSync(path, `${text(format, [10, 0], [11, 0])}12,0x`)
    const second = resume()
    write(second, 11, 0)
    second.finish()
    expect(read()).toBe(text(format, [10, 0], [11, 0]))
  })

  test('resumes before anything was written', () => {
    create(format)
    rmSync(path)
    const file = resume()
    write(file, 10, 0)
    file.finish()
    expect(read()).toBe(text(format, [10, 0]))
  })

  test('rolls back logs and writes a checkpoint', () => {
    const file = create(format)
    for (const block of [10, 11, 11, 12]) write(file, block, 0)
    const removed = file.rollBack({ fromBlock: 11n, cursor: cursorAt(11) })
    expect(removed).toBe(3)
    expect(read()).toBe(text(format, [10, 0]))
    expect(readCheckpoint(checkpointPath)).toMatchObject({ logs: 1, bytes: statSync(path).size, cursor: cursorAt(11) })
    write(file, 11, 5)
    file.finish()
    expect(read()).toBe(text(format, [10, 0], [11, 5]))
  })
})

describe('a resumed log file', () => {
  const interrupt = (): string => {
    const file = create()
    write(file, 10, 0)
    write(file, 10, 1)
    file.close()
    return read()
  }

  test.each<[string, (before: string) => string]>([
    ['shorter', (before) => before.slice(0, -1)],
    ['modified', (before) => before.replaceAll('0,0x', '1,0x')],
    ['empty', () => ''],
  ])('is rejected and left unchanged if it is %s', (_what, change) => {
    const changed = change(interrupt())
    writeFileSync(path, changed)
    expect(resume).toThrow(expect.objectContaining({ hint: expect.stringContaining('--overwrite') }))
    expect(read()).toBe(changed)
  })

  test.each([['{'], ['[]'], ['{"version":2}'], ['null'], ['']])('is rejected if its checkpoint is %j', (broken) => {
    interrupt()
    writeFileSync(checkpointPath, broken)
    expect(resume).toThrow(expect.objectContaining({ hint: expect.stringContaining('--overwrite') }))
  })
})

test.skipIf(!existsSync('/dev/null'))('a device is rejected', () => {
  path = '/dev/null'
  expect(create).toThrow(expect.objectContaining({ message: '/dev/null is not a file' }))
})

test('a missing folder is rejected with a hint', () => {
  path = join(folder, 'no', 'logs')
  checkpointPath = `${path}.cursor`
  expect(create).toThrow(
    expect.objectContaining({ message: `cannot use ${path} (ENOENT)`, hint: 'create its folder first' }),
  )
})
