import { PassThrough } from 'node:stream'
import type { Log } from '@keyrail/fetch'
import { describe, expect, test } from 'vitest'
import { openLogStream, readerClosed } from './logStream.ts'

const format = { head: 'head\n', line: ({ blockNumber, logIndex }: Log) => `${blockNumber}/${logIndex}\n` }
const log = (block: number, logIndex: number): Log => ({ blockNumber: BigInt(block), logIndex }) as Log
const after = (nextBlock: number, nextLogIndex = 0) => ({ nextBlock, nextLogIndex })

const open = (highWaterMark?: number) => {
  const stream = new PassThrough({ ...(highWaterMark !== undefined && { highWaterMark }) })
  return { stream, sink: openLogStream(stream, format, 1), read: () => String(stream.read() ?? '') }
}

describe('openLogStream', () => {
  test('writes blocks whole, or not at all', async () => {
    const { sink, read } = open()
    await sink.take(log(1, 0), after(1, 1))
    await sink.take(log(1, 1), after(1, 2))
    await sink.take(log(3, 0), after(3, 1))
    await sink.end()
    expect(read()).toBe('head\n1/0\n1/1\n')
    expect(sink.cursor().nextBlock).toBe(3)
  })

  test('writes what is known to be whole at once', async () => {
    const { sink, read } = open()
    await sink.take(log(1, 0), after(1, 1))
    sink.reach(after(9))
    await sink.end()
    expect(read()).toBe('head\n1/0\n')
  })

  test('writes the head where there is no log', async () => {
    const { sink, read } = open()
    sink.reach(after(9))
    await sink.end()
    expect(read()).toBe('head\n')
  })

  test('waits for a slow reader', async () => {
    const { stream, sink } = open(10)
    let waits = 0
    for (let block = 1; block < 20_000 && waits === 0; block++) {
      const taken = sink.take(log(block, 0), after(block, 1))
      if (taken) waits = block
    }
    expect(waits).toBeGreaterThan(0)
    let over = false
    const taken = Promise.resolve(sink.take(log(20_000, 0), after(20_000, 1))).then(() => (over = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(over).toBe(false)
    stream.resume()
    await taken
  })

  test('tells that the reader went away', async () => {
    const { stream, sink } = open()
    stream.destroy(new Error('EPIPE'))
    await new Promise((resolve) => setImmediate(resolve))
    sink.reach(after(9))
    await expect(sink.end()).rejects.toBe(readerClosed)
  })

  test('names a reorganization, because nothing can be taken back', () => {
    const { sink } = open()
    expect(() => sink.takeBack({ fromBlock: 7n, cursor: after(7) })).toThrow(
      expect.objectContaining({
        message: 'the chain was reorganized at or above block 7',
        hint: 'drop the lines of block 7 and of those above it, and go on with --from 7',
      }),
    )
  })
})
