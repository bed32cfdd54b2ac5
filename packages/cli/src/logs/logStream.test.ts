import { PassThrough } from 'node:stream'
import type { Log } from '@keyrail/fetch'
import { describe, expect, test } from 'vitest'
import { openLogStream, readerClosed } from './logStream.ts'

const format = { header: 'header\n', line: ({ blockNumber, logIndex }: Log) => `${blockNumber}/${logIndex}\n` }
const log = (block: number, logIndex: number): Log => ({ blockNumber: BigInt(block), logIndex }) as Log
const cursorAt = (nextBlock: number, nextLogIndex = 0) => ({ nextBlock, nextLogIndex })

const open = (highWaterMark?: number) => {
  const stream = new PassThrough({ ...(highWaterMark !== undefined && { highWaterMark }) })
  return { stream, sink: openLogStream(stream, format, 1), read: () => String(stream.read() ?? '') }
}

describe('openLogStream', () => {
  test('writes complete blocks only', async () => {
    const { sink, read } = open()
    await sink.write(log(1, 0), cursorAt(1, 1))
    await sink.write(log(1, 1), cursorAt(1, 2))
    await sink.write(log(3, 0), cursorAt(3, 1))
    await sink.end()
    expect(read()).toBe('header\n1/0\n1/1\n')
    expect(sink.cursor().nextBlock).toBe(3)
  })

  test('writes blocks as soon as they are known to be complete', async () => {
    const { sink, read } = open()
    await sink.write(log(1, 0), cursorAt(1, 1))
    sink.advance(cursorAt(9))
    await sink.end()
    expect(read()).toBe('header\n1/0\n')
  })

  test('writes the header without any log', async () => {
    const { sink, read } = open()
    sink.advance(cursorAt(9))
    await sink.end()
    expect(read()).toBe('header\n')
  })

  test('waits for a slow reader', async () => {
    const { stream, sink } = open(10)
    let pausedAt = 0
    for (let block = 1; block < 20_000 && pausedAt === 0; block++) {
      const written = sink.write(log(block, 0), cursorAt(block, 1))
      if (written) pausedAt = block
    }
    expect(pausedAt).toBeGreaterThan(0)
    let done = false
    const last = Promise.resolve(sink.write(log(20_000, 0), cursorAt(20_000, 1))).then(() => (done = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(done).toBe(false)
    stream.resume()
    await last
  })

  test('reports that the reader closed the stream', async () => {
    const { stream, sink } = open()
    stream.destroy(new Error('EPIPE'))
    await new Promise((resolve) => setImmediate(resolve))
    sink.advance(cursorAt(9))
    await expect(sink.end()).rejects.toBe(readerClosed)
  })

  test('reports a reorg, because written logs cannot be rolled back', () => {
    const { sink } = open()
    expect(() => sink.rollBack({ fromBlock: 7n, cursor: cursorAt(7) })).toThrow(
      expect.objectContaining({
        message: 'a reorg replaced logs at or above block 7, which are already written',
        hint: 'delete the lines from block 7 on, and resume with --from 7',
      }),
    )
  })
})
