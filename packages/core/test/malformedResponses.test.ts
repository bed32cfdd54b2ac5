import { gzipSync } from 'node:zlib'
import { createTransport, isKeyrailError } from '@keyrail/core'
import type { FailureKind } from '@keyrail/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { raw, startFaultServer } from './faultServer.ts'
import type { FaultServer, Script } from './faultServer.ts'

/** Malformed responses and the kinds of failure they cause. Wrong ids, broken connections and slow responses have their own tests, which use `faults/`. */
const malformed: Record<string, readonly [FailureKind, Script]> = {
  'empty 200': ['badResponse', raw(200, '')],
  'white space': ['badResponse', raw(200, ' \n ')],
  'HTML with status 200': [
    'badResponse',
    raw(200, '<!doctype html><title>Welcome</title>', { 'content-type': 'text/html' }),
  ],
  'HTML 502': ['unavailable', raw(502, '<html><head><title>502 Bad Gateway</title></head></html>')],
  'HTML 504': ['timeout', raw(504, '<html><title>Gateway Time-out</title></html>')],
  'text 429': ['throttled', raw(429, 'Too Many Requests')],
  'text 401': ['auth', raw(401, 'message: API key not found, trace_id: 0')],
  'text 403': ['forbidden', raw(403, 'Forbidden')],
  'JSON 402': ['quota', raw(402, '{"jsonrpc":"2.0","id":$ID,"error":{"code":402,"message":"Payment Required"}}')],
  'truncated JSON': ['badResponse', raw(200, '{"jsonrpc":"2.0","id":$ID,"resu')],
  'neither result nor error': ['badResponse', raw(200, '{"jsonrpc":"2.0","id":$ID}')],
  'result and error': [
    'badResponse',
    raw(200, '{"jsonrpc":"2.0","id":$ID,"result":"0x1","error":{"code":1,"message":"x"}}'),
  ],
  'an array for one call': ['badResponse', raw(200, '[{"jsonrpc":"2.0","id":$ID,"result":"0x1"}]')],
  'a bare string': ['badResponse', raw(200, '"0x1"')],
  'a bare null': ['badResponse', raw(200, 'null')],
  'null-id error in an array': [
    'batchTooLarge',
    raw(200, '[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch too large"}}]'),
  ],
  redirect: ['badResponse', raw(301, 'Moved', { location: 'http://127.0.0.1:1/countRedirected' })],
  'no content': ['badResponse', raw(204, '')],
  'an encoding that was not requested': ['badResponse', raw(200, 'xxxx', { 'content-encoding': 'br' })],
  'broken gzip': ['badResponse', raw(200, 'this is not gzip', { 'content-encoding': 'gzip' })],
  'larger than allowed': ['badResponse', raw(200, `{"jsonrpc":"2.0","id":$ID,"result":"0x${'f'.repeat(5_000)}"}`)],
  'larger than allowed, length unknown': [
    'badResponse',
    (_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write('x'.repeat(1_000)), 2)
      response.on('close', () => clearInterval(timer))
    },
  ],
  'gzip bomb': [
    'badResponse',
    (_seen, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1 << 20, 32))),
  ],
  'not HTTP': ['network', (_seen, _response, socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
  'switching protocols': [
    'network',
    (_seen, _response, socket) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
  ],
  'no response at all': ['timeout', () => {}],
  'a head and no body': [
    'timeout',
    (_seen, response) => void response.writeHead(200, { 'content-length': '500' }).flushHeaders(),
  ],
}

let server: FaultServer
beforeAll(async () => {
  server = await startFaultServer()
})
afterAll(() => server.close())

for (const [httpClient, options] of Object.entries({ 'node:http': {}, fetch: { fetch: globalThis.fetch } })) {
  describe(`through ${httpClient}, a malformed response is a failure with a kind, before the deadline`, () => {
    test.each(Object.keys(malformed))('%s', async (name) => {
      const [kind, script] = malformed[name] as (typeof malformed)[string]
      server.script = script
      const transport = createTransport({ url: server.url, ...options, retry: false, maxResponseBytes: 4_096 })
      // The deadline matters only if no response comes. Otherwise it catches hangs.
      const timeoutMs = kind === 'timeout' && server.script !== malformed['HTML 504']?.[1] ? 100 : 60_000
      const failure: unknown = await transport
        .request({ method: 'eth_blockNumber' }, { timeoutMs })
        .then((value: unknown) => expect.fail(`got ${JSON.stringify(value)}`))
        .catch((error: unknown) => error)
      expect(isKeyrailError(failure) && failure.kind, String(failure)).toBe(kind)
      transport.close()
    })
  })
}
