import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { writeParts } from './writeParts.ts'

const toStop: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0)) await stop()
})

const size = 60 * 1024 * 1024

/** A server that writes a large body, and a caller that has asked for it and reads nothing yet. */
const start = async (options: { timeoutMs: number; bytesPerSecond?: number }) => {
  let closed = (_finished: boolean): void => {}
  const end = new Promise<boolean>((resolve) => (closed = resolve))
  const server = createServer((_, response) => {
    response.on('close', () => closed(response.writableFinished))
    response.writeHead(200, { 'content-length': size })
    writeParts(response, ['a', Buffer.alloc(size - 1, 'b')], options)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const caller = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  caller.on('error', () => {})
  caller.pause()
  caller.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  toStop.push(
    () => caller.destroy(),
    () => server.close(),
  )
  return { caller, end }
}

/** Takes some of what has come, every now and then. */
const sip = (caller: Socket): void => {
  const timer = setInterval(() => {
    caller.once('data', () => caller.pause())
    caller.resume()
  }, 3)
  toStop.push(() => clearInterval(timer))
}

test('a caller that takes a little now and then loses its connection once its whole time is over', async () => {
  const { caller, end } = await start({ timeoutMs: 1_000, bytesPerSecond: 1_000_000_000_000 })
  sip(caller)
  expect(await end).toBe(false)
})

test('one as slow goes on where it is fast enough for the size of its answer', async () => {
  const { caller, end } = await start({ timeoutMs: 1_000 })
  const startedAt = performance.now()
  sip(caller)
  expect(await end).toBe(true)
  // Else the first test would have cut nobody who is slow.
  expect(performance.now() - startedAt).toBeGreaterThan(1_000)
})

test('a caller that is fast enough gets all of it', async () => {
  const { caller, end } = await start({ timeoutMs: 10_000 })
  caller.on('data', () => {})
  caller.resume()
  expect(await end).toBe(true)
})
