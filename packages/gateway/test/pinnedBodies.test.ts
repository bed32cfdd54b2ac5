import { createServer as createHttpServer } from 'node:http'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { createBufferedBytes, dropAllBytes } from '../src/lib/memoryBudget.ts'
import { createUpstream } from '../src/proxy/upstream/createUpstream.ts'
import type { UpstreamResponse } from '../src/proxy/upstream/postRequest.ts'
import { createConfirmedNulls } from '../src/proxy/upstream/createConfirmedNulls.ts'
import { createResponseCache } from '../src/proxy/upstream/createResponseCache.ts'
import { getAllBytes, getArrayBufferBytes } from './arrayBuffers.ts'
import { until } from './controlTime.ts'
import { openGateway } from './openGateway.ts'
import { postBytes } from './rawConnection.ts'

const extension = `;${'e'.repeat(15_000)}`
/** A text in chunks, each of which comes with 15 kB that are no part of it. */
const toChunks = (text: string, size: number): string => {
  let chunks = ''
  for (let at = 0; at < text.length; at += size) {
    const chunk = text.slice(at, at + size)
    chunks += `${chunk.length.toString(16)}${extension}\r\n${chunk}\r\n`
  }
  return chunks
}

// Chunks of less than 1 KiB are joined, the others are kept.
test.each([
  [1, 500],
  [1_100, 110_000],
])('a response in chunks of %i bytes with long extensions keeps only its bytes', async (chunkBytes, bytes) => {
  const body = `{"jsonrpc":"2.0","id":1,"result":"${'a'.repeat(bytes)}"}`
  let finish = (): void => {}
  const node = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n')
      socket.write(toChunks(body, chunkBytes))
      finish = () => void socket.end('0\r\n\r\n')
    })
  })
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void node.close())
  const upstream = createUpstream(new URL(`http://127.0.0.1:${(node.address() as AddressInfo).port}`))
  onTestFinished(upstream.close)
  const before = getArrayBufferBytes()
  const buffered = createBufferedBytes('requests', { most: Infinity })
  const received = new Promise<UpstreamResponse | undefined>((resolve) => {
    upstream.post({
      body: '{}',
      budget: { left: 1_000_000, buffered },
      done: (_fault, response) => resolve(response),
    })
  })
  await expect.poll(() => buffered.held).toBe(body.length)
  // The megabytes that were sent around them are gone.
  await until(() => getArrayBufferBytes() - before < 300_000)
  finish()
  expect((await received)?.body.toString()).toBe(body)
  dropAllBytes(buffered)
})

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', (text: string) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
] as const)('a response with %s is decoded only as far as there is room for it', async (encoding, encode) => {
  const whole = encode(Array.from({ length: 500_000 }, (_, index) => index).join(' '))
  // Without its end, so that decoding all of it would fail in another way.
  const body = whole.subarray(0, -4)
  const node = createHttpServer((_request, response) => {
    response.setHeader('content-encoding', encoding)
    response.end(body)
  })
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void node.close())
  const upstream = createUpstream(new URL(`http://127.0.0.1:${(node.address() as AddressInfo).port}`))
  onTestFinished(upstream.close)
  const buffered = createBufferedBytes('requests', { most: Infinity, ownMost: 2_000_000 })
  const budget = { left: 10_000_000, buffered }
  const fault = await new Promise((resolve) => {
    upstream.post({ body: '{}', budget, done: resolve })
  })
  expect([fault, buffered.held, budget.left]).toEqual(['noRoom', 0, 10_000_000])
})

test('the body of a request in chunks with long extensions keeps only its bytes', async () => {
  const { upstream, started, path } = await openGateway()
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'.padEnd(110_001)
  const socket = connect({ port: started.port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  const before = getArrayBufferBytes()
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  )
  socket.write(toChunks(body.slice(0, -1), 1_100))
  await expect.poll(() => started.gateway.load().bufferedBytes).toBe(body.length - 1)
  await until(() => getArrayBufferBytes() - before < 300_000)
  socket.write(`1\r\n \r\n0\r\n\r\n`)
  await expect.poll(() => received).toContain('"result":"0x1"')
  expect(upstream.bodies).toHaveLength(1)
})

const largeText = 1_500_000
const manyTexts = 8

test('idle connections keep nothing of their last requests', async () => {
  const { started, path } = await openGateway()
  const before = getAllBytes()
  let received = 0
  for (let count = 0; count < manyTexts; count += 1) {
    const socket = connect({ port: started.port, host: '127.0.0.1' })
    onTestFinished(() => void socket.destroy())
    socket.on('data', ({ length }) => (received += length))
    const id = String(count).padEnd(largeText, 'i')
    socket.write(postBytes(path, `{"jsonrpc":"2.0","id":"${id}","method":"eth_gasPrice","params":[]}`))
  }
  await until(() => received > manyTexts * largeText)
  await until(() => started.gateway.load().requests === 0)
  expect(started.gateway.load()).toMatchObject({ connections: manyTexts, bufferedBytes: 0 })
  await until(() => getAllBytes() - before < largeText * 3)
})

test.each<[string, () => (key: string) => void]>([
  [
    'the response cache',
    () => {
      const cache = createResponseCache(1_000_000)
      return (key) => cache.set(key, '"0x1"')
    },
  ],
  [
    'the memory of confirmed nulls',
    () => {
      const nulls = createConfirmedNulls(1_000)
      return (key) => nulls.add(key, 1)
    },
  ],
])('%s keeps only the call of a body', async (_, createAdd) => {
  const add = createAdd()
  const before = getAllBytes()
  for (let count = 0; count < manyTexts; count += 1) {
    const params = `["0x${String(count).padStart(64, '0')}",false]`
    const body = Buffer.from(`{"params":${params},"padding":"${'p'.repeat(largeText)}"}`).toString()
    add(`eth_getBlockByHash${body.slice(10, 10 + params.length)}`)
  }
  await until(() => getAllBytes() - before < largeText * 3)
  // It is in use until here.
  add('')
})
