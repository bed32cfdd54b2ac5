import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Log, LogCursor } from '@keyrail/fetch'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { logFormats } from './logFormat.ts'
import type { LineFormatName } from './logFormat.ts'
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
const text = (format: LineFormatName, ...places: readonly (readonly [number, number])[]): string =>
  logFormats[format].header + places.map(([block, index]) => logFormats[format].line(logAt(block, index))).join('')
const write = (file: LogFile, block: number, logIndex: number): void => {
  void file.write(logAt(block, logIndex), { nextBlock: block, nextLogIndex: logIndex + 1 })
}
const cursorAt = (nextBlock: number): LogCursor => ({ nextBlock, nextLogIndex: 0 })
const create = (format: LineFormatName = 'csv'): LogFile =>
  openLogFile(path, checkpointPath, {
    settings: { from: 10, to: 'latest', address: [], topics: [], format },
    chainId: 1,
    fromBlock: 10,
    toBlock: 99,
  })
const resume = (): LogFile => openLogFile(path, checkpointPath, readCheckpoint(checkpointPath) as Checkpoint)
const read = (): string =>
  path.endsWith('.gz') ? gunzipSync(readFileSync(path)).toString() : readFileSync(path, 'latin1')

describe.each([
  ['csv', ''],
  ['ndjson', ''],
  ['csv', '.gz'],
  ['ndjson', '.gz'],
] as const)('a %s log file with the ending %j', (format, ending) => {
  beforeEach(() => {
    path = join(folder, `logs${ending}`)
    checkpointPath = `${path}.cursor`
  })

  test('contains every log and leaves no other file', () => {
    const file = create(format)
    // A process was killed while it wrote a checkpoint.
    writeFileSync(`${checkpointPath}.new`, '{')
    write(file, 10, 0)
    write(file, 12, 0)
    file.advance(cursorAt(100))
    file.finish()
    expect(read()).toBe(text(format, [10, 0], [12, 0]))
    expect(readdirSync(folder)).toEqual([`logs${ending}`])
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
    if (ending === '') writeFileSync(path, `${text(format, [10, 0], [11, 0])}12,0x`)
    else appendFileSync(path, gzipSync(logFormats[format].line(logAt(11, 0))).subarray(0, -3))
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
    expect(file.logs()).toBe(1)
    if (ending === '') expect(read()).toBe(text(format, [10, 0]))
    // A compressed file is cut at the start of a member, whose other logs are written again.
    const saved = ending === '' ? { logs: 1, cursor: cursorAt(11) } : { logs: 0, cursor: cursorAt(10) }
    expect(readCheckpoint(checkpointPath)).toMatchObject({ ...saved, bytes: statSync(path).size })
    write(file, 11, 5)
    file.finish()
    expect(read()).toBe(text(format, [10, 0], [11, 5]))
  })
})

describe('a compressed log file', () => {
  beforeEach(() => {
    path = join(folder, 'logs.gz')
    checkpointPath = `${path}.cursor`
  })
  /** Writes blocks from 10 on, each in a member of its own, as if each run was interrupted. */
  const writeMembers = (blocks: number): void => {
    create('ndjson').close()
    for (let block = 10; block < 10 + blocks; block++) {
      const file = resume()
      write(file, block, 0)
      file.advance(cursorAt(block + 1))
      file.close()
    }
  }

  test.each([
    [10, 3, []],
    [11, 2, [10]],
    [12, 1, [10, 11]],
    [13, 0, [10, 11, 12]],
  ])('is rolled back to block %i over several members, after it was resumed', (block, removed, remaining) => {
    writeMembers(3)
    const file = resume()
    expect(file.rollBack({ fromBlock: BigInt(block), cursor: cursorAt(block) })).toBe(removed)
    expect(file.logs()).toBe(remaining.length)
    // A process that is killed now loses nothing.
    const { cursor, logs } = readCheckpoint(checkpointPath) as Checkpoint
    expect([cursor, logs]).toEqual([cursorAt(block), remaining.length])
    write(file, block, 7)
    file.finish()
    expect(read()).toBe(text('ndjson', ...remaining.map((one) => [one, 0] as const), [block, 7]))
  })

  test('without logs is a valid file', () => {
    create('ndjson').finish()
    expect(read()).toBe('')
  })

  test('rejects a reorg before the members of its checkpoint', () => {
    writeMembers(3)
    const checkpoint = readCheckpoint(checkpointPath) as Checkpoint
    const file = openLogFile(path, checkpointPath, { ...checkpoint, members: checkpoint.members?.slice(-1) ?? [] })
    expect(() => file.rollBack({ fromBlock: 10n, cursor: cursorAt(10) })).toThrow(
      expect.objectContaining({
        message: 'a reorg replaced logs at or above block 10, which are already compressed',
        hint: expect.stringContaining('--overwrite'),
      }),
    )
    file.close()
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
