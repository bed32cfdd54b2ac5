import { createServer } from 'node:http'
import { connect } from 'node:net'
import { randomFillSync } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { Transform } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { until } from '../../../../test/controlTime.ts'
import { createCompressor } from '../../http/compress.ts'
import { writeParts } from './writeParts.ts'

const toStop: (() => unknown)[] = []
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(async () => {
  vi.useRealTimers()
  for (const stop of toStop.splice(0)) await stop()
})

const size = 60 * 1024 * 1024
const randomBytes = (): Buffer => randomFillSync(Buffer.allocUnsafe(size - 1))

/** A server that writes a large body, and a caller that reads part of it on demand. */
const start = async (options: { timeoutMs: number; bytesPerSecond?: number; compressor?: Transform }) => {
  let finished: boolean | undefined
  const server = createServer((_, response) => {
    response.on('close', () => (finished = response.writableFinished))
    // Random bytes, because compressed ones must not be fewer.
    const body = options.compressor === undefined ? Buffer.alloc(size - 1, 'b') : randomBytes()
    response.writeHead(200, options.compressor === undefined ? { 'content-length': size } : {})
    writeParts(response, ['a', body], options)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const caller = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  toStop.push(
    () => caller.destroy(),
    () => server.close(),
  )
  let bytes = 0
  let wanted = 0
  let ended = false
  caller.on('error', () => {})
  caller.on('close', () => (ended = true))
  caller.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes >= wanted) caller.pause()
  })
  caller.pause()
  caller.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  /** Reads this many more bytes, or to the end. @returns Whether there is more. */
  const read = async (count: number): Promise<boolean> => {
    wanted = bytes + count
    caller.resume()
    await until(() => bytes >= wanted || ended)
    return !ended
  }
  return { read, finished: () => finished }
}
const half = size / 2
const pass = (ms: number) => void vi.advanceTimersByTime(ms)

test('a caller that reads nothing for a while loses its connection', async () => {
  const { read, finished } = await start({ timeoutMs: 1_000 })
  await read(1)
  pass(1_000)
  await until(() => finished() === false)
})

test('a caller that reads very slowly loses its connection when its time is up', async () => {
  // The size takes another second and a half at this speed.
  const { read, finished } = await start({ timeoutMs: 1_000, bytesPerSecond: size / 1.5 })
  // Each time it reads far more than the buffers between the two hold, so that the server has progress.
  await read(half / 2)
  pass(900)
  await read(half / 2)
  pass(900)
  await read(half / 2)
  expect(finished()).toBeUndefined()
  pass(700)
  await until(() => finished() === false)
})

test('a caller that is fast enough for the size of its response gets all of it', async () => {
  const { read, finished } = await start({ timeoutMs: 1_000 })
  for (let part = 0; part < 3; part += 1) {
    await read(half / 2)
    pass(900)
  }
  expect(await read(Infinity)).toBe(false)
  await until(() => finished() === true)
})

describe('a compressed body', () => {
  test.each(['gzip', 'br'] as const)(
    'in %s: a caller that reads nothing for a while loses its connection',
    async (encoding) => {
      const compressor = createCompressor(encoding)
      const { read, finished } = await start({ timeoutMs: 1_000, compressor })
      await read(1)
      pass(1_000)
      await until(() => finished() === false)
      await until(() => compressor.destroyed)
    },
  )

  test('a caller that is fast enough gets all of it', async () => {
    const compressor = createCompressor('gzip')
    const { read, finished } = await start({ timeoutMs: 1_000, compressor })
    for (let part = 0; part < 3; part += 1) {
      await read(half / 2)
      pass(900)
    }
    expect(await read(Infinity)).toBe(false)
    await until(() => finished() === true)
    await until(() => compressor.destroyed)
  })

  test('a caller that reads very slowly loses its connection when its time is up', async () => {
    const compressor = createCompressor('br')
    const { read, finished } = await start({ timeoutMs: 1_000, bytesPerSecond: size / 1.5, compressor })
    await read(half / 2)
    pass(900)
    await read(half / 2)
    pass(900)
    expect(finished()).toBeUndefined()
    pass(700)
    await until(() => finished() === false)
  })
})
