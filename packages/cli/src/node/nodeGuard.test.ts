import { createServer, request } from 'node:http'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startNodeGuard } from './nodeGuard.ts'
import type { NodeGuard } from './nodeGuard.ts'

const call = '{"jsonrpc":"2.0","id":1,"method":"evm_mine","params":[]}'
const received: string[] = []
/** A node that accepts requests from anyone, like anvil. */
const node = createServer((incoming, outgoing) => {
  void text(incoming).then((body) => {
    received.push(body)
    outgoing.setHeader('access-control-allow-origin', '*')
    outgoing.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
  })
})
let guard: NodeGuard
let port = 0

beforeAll(async () => {
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  guard = await startNodeGuard(`http://127.0.0.1:${(node.address() as AddressInfo).port}`)
  port = Number(new URL(guard.url).port)
})
beforeEach(() => {
  received.length = 0
})
afterAll(async () => {
  await guard.close()
  node.closeAllConnections()
  node.close()
})

const json = { 'content-type': 'application/json' }

async function send(
  headers: OutgoingHttpHeaders,
  { method = 'POST', body = call }: { method?: string; body?: string } = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(guard.url, { method, headers }, (response) => {
      const { statusCode: status = 0, headers: responseHeaders } = response
      text(response).then((read) => resolve({ status, headers: responseHeaders, text: read }), reject)
    })
    sent.on('error', reject)
    sent.on('upgrade', () => reject(new Error('the guard accepted a WebSocket')))
    sent.end(method === 'POST' ? body : undefined)
  })
}

describe('requests from programs other than web pages', () => {
  test.each<[string, () => OutgoingHttpHeaders]>([
    ['the printed URL', () => json],
    ['localhost', () => ({ ...json, host: `localhost:${port}` })],
    ['localhost through a tunnel from another port', () => ({ ...json, host: 'localhost:9000' })],
    ['a charset', () => ({ 'content-type': 'Application/JSON; charset=utf-8' })],
    ['a chunked body', () => ({ ...json, 'transfer-encoding': 'chunked' })],
    ['fetch of Node, which only sends a mode', () => ({ ...json, 'sec-fetch-mode': 'cors' })],
  ])('%s', async (_, headers) => {
    const { status, text: responseText, headers: responseHeaders } = await send(headers())
    expect([status, responseText]).toEqual([200, '{"jsonrpc":"2.0","id":1,"result":"0x1"}'])
    expect(received).toEqual([call])
    expect(responseHeaders).not.toHaveProperty('access-control-allow-origin')
  })

  test('a large body arrives completely', async () => {
    const body = JSON.stringify({ data: 'x'.repeat(1_000_000) })
    expect((await send(json, { body })).status).toBe(200)
    expect(received).toEqual([body])
  })
})

describe('requests from web pages', () => {
  test.each<[string, number, OutgoingHttpHeaders, string?]>([
    ['a rebound name', 403, { ...json, host: 'evil.example' }],
    ['a rebound name that starts like this machine', 403, { ...json, host: '127.0.0.1.evil.example' }],
    ['a rebound name that ends like this machine', 403, { ...json, host: 'evil.localhost' }],
    ['an address of the local network', 403, { ...json, host: '192.168.1.2' }],
    ['a name before an @', 403, { ...json, host: 'localhost@evil.example' }],
    ['another origin', 403, { ...json, origin: 'https://evil.example' }],
    ['a sandboxed frame', 403, { ...json, origin: 'null' }],
    ['a page of another port of this machine', 403, { ...json, origin: 'http://localhost:3000' }],
    ['a page of its own address', 403, { ...json, origin: 'http://127.0.0.1' }],
    ['a browser that sends the site', 403, { ...json, 'sec-fetch-site': 'same-origin' }],
    ['a simple request, which has no preflight', 415, { 'content-type': 'text/plain' }],
    ['a form', 415, { 'content-type': 'application/x-www-form-urlencoded' }],
    ['no media type', 415, {}],
    ['JSON only in a parameter', 415, { 'content-type': 'text/plain; application/json' }],
    ['a preflight', 403, { origin: 'https://evil.example', 'access-control-request-method': 'POST' }, 'OPTIONS'],
    ['a preflight without an origin', 405, {}, 'OPTIONS'],
    ['an image', 405, {}, 'GET'],
    [
      'a WebSocket',
      403,
      { connection: 'Upgrade', upgrade: 'websocket', origin: 'https://evil.example', 'sec-websocket-version': '13' },
      'GET',
    ],
    ['a WebSocket without an origin', 405, { connection: 'Upgrade', upgrade: 'websocket' }, 'GET'],
  ])('%s', async (_, status, headers, method = 'POST') => {
    const response = await send(headers, { method })
    expect(response.status).toBe(status)
    expect(response.headers).not.toHaveProperty('access-control-allow-origin')
    expect(JSON.parse(response.text)).toMatchObject({ error: { message: expect.stringContaining('embedded node') } })
    expect(received).toEqual([])
  })
})

test('a stopped node is a 502', async () => {
  const gone = createServer()
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
  const { port: closed } = gone.address() as AddressInfo
  await new Promise((resolve) => gone.close(resolve))
  const other = await startNodeGuard(`http://127.0.0.1:${closed}`)
  const response = await fetch(other.url, { method: 'POST', headers: json, body: call })
  expect(response.status).toBe(502)
  expect(await response.json()).toMatchObject({ error: { message: 'the embedded node did not respond' } })
  await other.close()
})
