import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bounds } from '../src/proxy/options/bounds.ts'
import { createControlServer } from '../src/service/createControlServer.ts'
import { createPrometheus } from '../src/service/prometheus.ts'
import { startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { openRaw } from './rawConnection.ts'
import type { RawConnection } from './rawConnection.ts'
import { chainIds, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'
import { idleSources } from './idleSources.ts'

// RFC 9112, section 6.1: request smuggling makes two parsers that disagree about the end of a body read one request as two. So a request whose
// framing is ambiguous is the last one on its connection.

let upstream: FakeUpstream
let started: StartedGateway
let control: Server
const reached: string[] = []
const open: RawConnection[] = []

beforeAll(async () => {
  upstream = await startFakeUpstream(chainIds.testnet)
  started = await startGateway({ testnet: [upstream.url] })
  control = createControlServer({
    bounds: bounds.parse({}),
    isProxy: () => false,
    handle: (request, response) => {
      reached.push(request.url ?? '')
      request.resume()
      response.end('here')
    },
  })
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))
})
afterEach(() => {
  for (const connection of open.splice(0)) connection.destroy()
  upstream.bodies.length = 0
  reached.length = 0
})
afterAll(async () => {
  control.closeAllConnections()
  control.close()
  await started.gateway.close({ graceMs: 0 })
  await upstream.stop()
})

const connectTo = async (port: number): Promise<RawConnection> => {
  const connection = await openRaw(port)
  open.push(connection)
  return connection
}
const call = (id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"eth_call","params":[{"nonce":"0x${id}"},"latest"]}`
const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
const post = (version: string, path: string, headers: readonly string[], body: string): string =>
  [`POST ${path} HTTP/${version}`, 'Host: x', 'Content-Type: application/json', ...headers, '', body].join('\r\n')
const keyPath = (): string => `/testnet/${started.testnetKey}`
const keepAlive = 'Connection: keep-alive'
const chunkedHeader = 'Transfer-Encoding: chunked'

describe('HTTP/1.0 with Transfer-Encoding', () => {
  test.each(['key', '/healthz', '/nothing', '/testnet/wrong'])(
    '%s gets a response, and the connection is closed',
    async (to) => {
      const path = to === 'key' ? keyPath() : to
      const connection = await connectTo(started.port)
      const second = post('1.1', keyPath(), [`Content-Length: ${call(2).length}`], call(2))
      connection.send(post('1.0', path, [chunkedHeader, keepAlive], chunked(call(1))) + second)
      const { status, headers } = await connection.next()
      expect([status, headers['connection']]).toEqual([
        { key: 200, '/healthz': 200, '/nothing': 404 }[to] ?? 401,
        'close',
      ])
      await connection.ended
      // The bytes after it were not read as a request.
      await expect(connection.next()).rejects.toThrow('ended before a response')
      expect(upstream.bodies).toHaveLength(to === 'key' ? 1 : 0)
    },
  )

  test('also if it arrives later, in another packet', async () => {
    const connection = await connectTo(started.port)
    connection.send(post('1.1', keyPath(), [`Content-Length: ${call(1).length}`], call(1)))
    expect((await connection.next()).headers['connection']).toBe('keep-alive')
    connection.send(post('1.0', keyPath(), [chunkedHeader, keepAlive], chunked(call(2))))
    expect((await connection.next()).headers['connection']).toBe('close')
    await connection.ended
  })

  test('earlier requests of its pipeline get their responses first', async () => {
    const connection = await connectTo(started.port)
    const first = post('1.1', keyPath(), [`Content-Length: ${call(1).length}`], call(1))
    connection.send(first.repeat(6) + post('1.0', keyPath(), [chunkedHeader, keepAlive], chunked(call(7))))
    for (let count = 1; count <= 6; count += 1) expect((await connection.next()).status).toBe(200)
    expect(await connection.next()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await connection.ended
  })

  test('also on the port of the control API', async () => {
    const connection = await connectTo((control.address() as AddressInfo).port)
    const next = post('1.1', '/api/second', ['Content-Length: 0'], '')
    connection.send(post('1.0', '/api/first', [chunkedHeader, keepAlive], chunked('{}')) + next)
    expect(await connection.next()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await connection.ended
    expect(reached).toEqual(['/api/first'])
  })

  test('on the port of Prometheus', async () => {
    const prometheus = await createPrometheus(idleSources)
    const port = await prometheus.listen({ host: '127.0.0.1', port: 0 })
    const connection = await connectTo(port)
    const head = `GET /other HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\n${chunkedHeader}\r\n${keepAlive}\r\n\r\n`
    connection.send(`${head}${chunked('{}')}`)
    expect((await connection.next()).headers['connection']).toBe('close')
    await connection.ended
    await prometheus.close()
  })
})

describe.each(['1.0', '1.1'])('ambiguous framing, HTTP/%s', (version) => {
  const length = String(call(1).length)
  test.each<[string, readonly string[], string]>([
    ['a coding before chunked', ['Transfer-Encoding: gzip, chunked'], chunked(call(1))],
    ['a coding after chunked', ['Transfer-Encoding: chunked, gzip'], chunked(call(1))],
    ['identity before chunked', ['Transfer-Encoding: identity, chunked'], chunked(call(1))],
    ['identity in a separate header', ['Transfer-Encoding: identity', chunkedHeader], chunked(call(1))],
    ['an empty member of the list', ['Transfer-Encoding: , chunked'], chunked(call(1))],
    ['chunked twice', ['Transfer-Encoding: chunked, chunked'], chunked(call(1))],
    ['chunked in two headers', [chunkedHeader, chunkedHeader], chunked(call(1))],
    ['an unknown coding', ['Transfer-Encoding: xchunked'], chunked(call(1))],
    ['a parameter', ['Transfer-Encoding: chunked;q=1'], chunked(call(1))],
    ['identity', ['Transfer-Encoding: identity'], call(1)],
    ['no coding', ['Transfer-Encoding:'], call(1)],
    ['a length before it', [`Content-Length: ${length}`, chunkedHeader], chunked(call(1))],
    ['a length after it', [chunkedHeader, `Content-Length: ${length}`], chunked(call(1))],
    ['a length of 0', [chunkedHeader, 'Content-Length: 0'], chunked(call(1))],
    ['a length and an empty coding', ['Transfer-Encoding:', `Content-Length: ${length}`], call(1)],
    ['a space before the colon', ['Transfer-Encoding : chunked'], chunked(call(1))],
    ['two lengths', [`Content-Length: ${length}`, `Content-Length: ${length}`], call(1)],
    ['two lengths in one', [`Content-Length: ${length}, ${length}`], call(1)],
  ])('%s is rejected, and the connection is closed', async (_, headers, body) => {
    for (const port of [started.port, (control.address() as AddressInfo).port]) {
      const connection = await connectTo(port)
      const second = post('1.1', keyPath(), [`Content-Length: ${call(2).length}`], call(2))
      connection.send(post(version, keyPath(), [...headers, keepAlive], body) + second)
      expect(await connection.next()).toMatchObject({ status: 400, headers: { connection: 'close' } })
      await connection.ended
      await expect(connection.next()).rejects.toThrow('ended before a response')
    }
    expect(upstream.bodies).toEqual([])
    expect(reached).toEqual([])
  })
})

describe('the connection stays open for', () => {
  test.each<[string, string, readonly string[], (id: number) => string]>([
    ['chunks', '1.1', [chunkedHeader], (id) => chunked(call(id))],
    ['chunks in another letter case', '1.1', ['Transfer-Encoding: \tChunked '], (id) => chunked(call(id))],
    ['HTTP/1.0 with a length', '1.0', [`Content-Length: ${call(1).length}`], call],
  ])('%s', async (_, version, headers, createBody) => {
    const connection = await connectTo(started.port)
    for (const id of [1, 2]) {
      connection.send(post(version, keyPath(), [...headers, keepAlive], createBody(id)))
      expect(await connection.next()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } })
    }
    expect(connection.hasEnded()).toBe(false)
  })
})
