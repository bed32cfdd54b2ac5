import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../src/index.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'
import { connect } from 'node:net'
import { openRaw, postBytes } from './rawConnection.ts'
import { chainIds, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

const startChain = (chainId: number): Promise<Anvil> => startAnvil('--chain-id', String(chainId))

let testnet: Anvil
let mainnet: Anvil
let started: StartedGateway

const bounds = { maxBodyBytes: 10_000, maxBatchCalls: 5, headersTimeoutMs: 1_000, requestTimeoutMs: 1_500 }

beforeAll(async () => {
  ;[testnet, mainnet] = await Promise.all([startChain(chainIds.testnet), startChain(chainIds.mainnet)])
  started = await startGateway({ testnet: [testnet.url], mainnet: [mainnet.url] }, { bounds })
})
afterAll(async () => {
  await started.gateway.close()
  await Promise.all([testnet.stop(), mainnet.stop()])
})

interface Row {
  readonly name: string
  readonly bytes: () => string | Buffer
  readonly status: number
  /** The error; missing if the body is empty. */
  readonly error?: { readonly code: number; readonly message: string; readonly reason: string; readonly data?: object }
  /** The source text of the response's id. */
  readonly id?: string
  /** Headers in addition to those of every response. */
  readonly headers?: Record<string, string>
  /** The chain id header, which is sent only if the key is known. */
  readonly chainId?: number
}

const blockNumber = '{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber","params":[]}'
const keyPath = (): string => `/testnet/${started.testnetKey}`
const appPath = (): string => `/testnet/v2/${started.app}`
const calls = (body: string) => (): Buffer => postBytes(keyPath(), body)

const notFound = {
  code: -32001,
  message: 'Not found: use POST /{network}/v2/{app key} or POST /{network}/{API key}',
  reason: 'not_found',
}
const unknownKey = { code: -32016, message: 'Invalid API key', reason: 'key_unknown' }
const invalidRequest = { code: -32600, message: 'Invalid Request', reason: 'invalid_request' }
const parseError = { code: -32700, message: 'Parse error', reason: 'parse_error' }
const toUnavailable = (method: string, nearest?: string) => ({
  code: -32601,
  message: `the method ${method} does not exist/is not available${nearest === undefined ? '' : `: did you mean ${nearest}?`}`,
  reason: 'method_not_found',
})
const similarMethods: Readonly<Record<string, string | undefined>> = {
  eth_sendTransaction: 'eth_sendRawTransaction',
  eth_signTransaction: 'eth_sendRawTransaction',
  eth_getBlockByNumer: 'eth_getBlockByNumber',
  ETH_blockNumber: 'eth_blockNumber',
}
const onTestnet = { chainId: chainIds.testnet }

const rows: readonly Row[] = [
  ...['/', '/testnet/v1/x', '/nonet/x', '/testnet/v2/x/', '/testnet/v2/x/y', '//testnet/x', '/TESTNET/x', '/api'].map(
    (path): Row => ({
      name: `the path ${path}`,
      bytes: () => postBytes(path, blockNumber),
      status: 404,
      error: notFound,
    }),
  ),
  {
    name: 'an unknown path with GET',
    bytes: () => 'GET /x HTTP/1.1\r\nHost: x\r\n\r\n',
    status: 404,
    error: notFound,
  },
  ...['/testnet', '/testnet/', '/testnet/v2', '/testnet/v2/', '/mainnet/kr_a', '/testnet/%6b'].map((path): Row => ({
    name: `no key, at ${path}`,
    bytes: () => postBytes(path, blockNumber),
    status: 401,
    error: unknownKey,
  })),
  {
    name: 'a key that was never created',
    bytes: () => postBytes(`/testnet/${createApiKey('testnet')}`, blockNumber),
    status: 401,
    error: unknownKey,
  },
  {
    name: 'a known key with its last letter changed',
    bytes: () =>
      postBytes(`/testnet/${started.testnetKey.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))}`, blockNumber),
    status: 401,
    error: unknownKey,
  },
  {
    name: 'a revoked key',
    bytes: () => postBytes(`/testnet/${started.revokedKey}`, blockNumber),
    status: 401,
    error: { code: -32016, message: 'API key has been revoked', reason: 'key_revoked' },
    ...onTestnet,
  },
  {
    name: 'an expired key',
    bytes: () => postBytes(`/testnet/${started.expiredKey}`, blockNumber),
    status: 401,
    error: { code: -32016, message: 'API key has expired', reason: 'key_expired' },
    ...onTestnet,
  },
  {
    name: "an app's key on the path of API keys",
    bytes: () => postBytes(`/testnet/${started.app}`, blockNumber),
    status: 401,
    error: {
      code: -32016,
      message: "This is an app's key: use POST /testnet/v2/{key}",
      reason: 'key_wrong_path',
      data: { path: '/testnet/v2/{key}' },
    },
    ...onTestnet,
  },
  {
    name: 'an API key on the path of apps',
    bytes: () => postBytes(`/testnet/v2/${started.testnetKey}`, blockNumber),
    status: 401,
    error: {
      code: -32016,
      message: 'This is an API key: use POST /testnet/{key}',
      reason: 'key_wrong_path',
      data: { path: '/testnet/{key}' },
    },
    ...onTestnet,
  },
  {
    name: 'a testnet key on mainnet',
    bytes: () => postBytes(`/mainnet/${started.testnetKey}`, blockNumber),
    status: 403,
    error: {
      code: -32002,
      message:
        'API key is not enabled for mainnet: it is for testnet. An API key has one network: create another in the dashboard, or use an app',
      reason: 'wrong_network',
      data: { keyNetworks: ['testnet'] },
    },
  },
  {
    name: 'a mainnet key on testnet',
    bytes: () => postBytes(`/testnet/${started.mainnetKey}`, blockNumber),
    status: 403,
    error: {
      code: -32002,
      message:
        'API key is not enabled for testnet: it is for mainnet. An API key has one network: create another in the dashboard, or use an app',
      reason: 'wrong_network',
      data: { keyNetworks: ['mainnet'] },
    },
  },
  ...['GET', 'PUT', 'DELETE', 'PATCH'].map((method): Row => ({
    name: `the HTTP method ${method}`,
    bytes: () => `${method} ${keyPath()} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`,
    status: 405,
    error: { code: -32600, message: 'Method not allowed: use POST', reason: 'http_method' },
    headers: { allow: 'POST, OPTIONS' },
  })),
  ...['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''].map((type): Row => ({
    name: `the content type '${type}'`,
    bytes: () => postBytes(keyPath(), blockNumber, { 'Content-Type': type }),
    status: 415,
    error: { code: -32600, message: 'Unsupported Media Type: use application/json', reason: 'content_type' },
  })),
  ...[
    '',
    ' ',
    '{',
    '{"jsonrpc":"2.0",}',
    '[1,]',
    "{'id':1}",
    '{"id":01}',
    `${blockNumber}x`,
    '\u{feff}{}',
    '['.repeat(64),
  ].map((body): Row => ({
    name: `the body ${JSON.stringify(body.slice(0, 24))}`,
    bytes: calls(body),
    status: 400,
    error: parseError,
    ...onTestnet,
  })),
  ...['['.repeat(9_000), '['.repeat(65) + ']'.repeat(65), '{"a":'.repeat(65)].map((body): Row => ({
    name: `the body ${JSON.stringify(body.slice(0, 24))}, of more than 64 levels,`,
    bytes: calls(body),
    status: 400,
    error: {
      code: -32700,
      message: 'Parse error: arrays and objects are nested more than 64 levels deep',
      reason: 'parse_error',
      data: { maxJsonDepth: 64 },
    },
    ...onTestnet,
  })),
  {
    name: 'a body that is not UTF-8',
    bytes: () =>
      postBytes(keyPath(), Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])),
    status: 400,
    error: parseError,
    ...onTestnet,
  },
  ...[
    ['1', 'null'],
    ['null', 'null'],
    ['"eth_blockNumber"', 'null'],
    ['{}', 'null'],
    ['{"jsonrpc":"1.0","id":1,"method":"eth_blockNumber"}', '1'],
    ['{"jsonrpc":2.0,"id":1,"method":"eth_blockNumber"}', '1'],
    ['{"id":1,"method":"eth_blockNumber"}', '1'],
    ['{"jsonrpc":"2.0","id":1}', '1'],
    ['{"jsonrpc":"2.0","id":1,"method":1}', '1'],
    ['{"jsonrpc":"2.0","id":{},"method":"eth_blockNumber"}', 'null'],
    ['{"jsonrpc":"2.0","id":[1],"method":"eth_blockNumber"}', 'null'],
    ['{"jsonrpc":"2.0","id":true,"method":"eth_blockNumber"}', 'null'],
    ['{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","method":"eth_chainId"}', '1'],
    ['{"jsonrpc":"2.0","id":1,"\\u0069d":2,"method":"eth_blockNumber"}', 'null'],
    ['{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[],"par\\u0061ms":[1]}', '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","x":1,"x":1}', '1'],
  ].map(([body = '', id = '']): Row => ({
    name: `the invalid request ${body}`,
    bytes: calls(body),
    status: 400,
    id,
    error: invalidRequest,
    ...onTestnet,
  })),
  {
    name: 'an empty batch',
    bytes: calls(' [ ] '),
    status: 400,
    error: { code: -32600, message: 'Invalid Request: empty batch', reason: 'batch_empty' },
    ...onTestnet,
  },
  {
    name: 'a batch of too many calls',
    bytes: calls(`[${Array.from({ length: 6 }, () => blockNumber).join(',')}]`),
    status: 413,
    error: { code: -32600, message: 'Batch too large: 6 > 5', reason: 'batch_too_large', data: { maxBatchCalls: 5 } },
    ...onTestnet,
  },
  ...['1', '"x"', 'true'].map((params): Row => ({
    name: `params that are ${params}`,
    bytes: calls(`{"jsonrpc":"2.0","id":1.0,"method":"eth_call","params":${params}}`),
    status: 200,
    id: '1.0',
    error: { code: -32602, message: 'Invalid params', reason: 'invalid_params' },
    ...onTestnet,
  })),
  ...[
    'eth_nope',
    'eth_getBlockByNumer',
    'eth_sendTransaction',
    'eth_sign',
    'eth_signTransaction',
    'eth_signTypedData_v4',
    'personal_unlockAccount',
    'admin_peers',
    'engine_newPayloadV4',
    'miner_start',
    'txpool_content',
    'testing_buildBlockV1',
    'anvil_setBalance',
    'evm_mine',
    'hardhat_reset',
    'debug_traceTransaction',
    'trace_block',
    'ETH_blockNumber',
    'toString',
    '__proto__',
    '',
  ].map((method): Row => ({
    name: `the method '${method}'`,
    bytes: calls(`{"jsonrpc":"2.0","id":"é","method":"${method}","params":[]}`),
    status: 200,
    id: '"é"',
    error: toUnavailable(method, Object.hasOwn(similarMethods, method) ? similarMethods[method] : undefined),
    ...onTestnet,
  })),
  ...['eth_subscribe', 'eth_unsubscribe'].map((method): Row => ({
    name: `the method '${method}'`,
    bytes: calls(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":["newHeads"]}`),
    status: 200,
    id: '1',
    error: {
      code: -32601,
      message: `${method} needs a WebSocket: connect to the same URL with wss:// in place of https://, or ws:// in place of http://`,
      reason: 'method_not_found',
    },
    ...onTestnet,
  })),
  {
    name: 'a method with a name as long as the body',
    bytes: calls(`{"jsonrpc":"2.0","id":1,"method":"${'m'.repeat(9_000)}"}`),
    status: 200,
    id: '1',
    error: toUnavailable(`${'m'.repeat(80)}…`),
    ...onTestnet,
  },
  { name: 'a notification', bytes: calls('{"jsonrpc":"2.0","method":"eth_blockNumber"}'), status: 204, ...onTestnet },
  {
    name: 'a notification of an unknown method',
    bytes: calls('{"jsonrpc":"2.0","method":"x"}'),
    status: 204,
    ...onTestnet,
  },
  {
    name: 'a batch of notifications',
    bytes: calls('[{"jsonrpc":"2.0","method":"eth_blockNumber"},{"jsonrpc":"2.0","method":"x"}]'),
    status: 204,
    ...onTestnet,
  },
  {
    name: 'a preflight, which needs no key',
    bytes: () =>
      'OPTIONS /testnet/v2/none HTTP/1.1\r\nHost: x\r\nOrigin: https://page.example\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type, x-mine\r\n\r\n',
    status: 204,
    headers: {
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'content-type, x-mine',
      'access-control-max-age': '86400',
      vary: 'Origin, Access-Control-Request-Headers',
    },
  },
  {
    name: 'a preflight with an invalid header name',
    bytes: () => 'OPTIONS /x HTTP/1.1\r\nHost: x\r\nAccess-Control-Request-Headers: a b<>\r\n\r\n',
    status: 204,
    headers: { 'access-control-allow-headers': 'content-type, authorization' },
  },
]

const requestId = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

const errorBody = (row: Pick<Row, 'error' | 'id'>, id: string): string => {
  const { code = 0, message, reason, data } = row.error ?? {}
  const error = JSON.stringify({ code, message, data: { reason, requestId: id, ...data } })
  return `{"jsonrpc":"2.0","id":${row.id ?? 'null'},"error":${error}}`
}

describe('every rejection', () => {
  test.each(rows)('$name: $status, and the next request on the same connection works', async (row) => {
    const connection = await openRaw(started.port)
    connection.send(row.bytes())
    const response = await connection.next()
    const id = response.headers['x-request-id'] ?? ''
    expect(id).toMatch(requestId)
    expect(response.status).toBe(row.status)
    expect(response.body).toBe(row.error === undefined ? '' : errorBody(row, id))
    expect(response.headers['content-type']).toBe(row.error === undefined ? undefined : 'application/json')
    expect(response.headers['access-control-allow-origin']).toBe('*')
    expect(response.headers['x-chain-id']).toBe(row.chainId?.toString())
    expect(response.headers).toMatchObject(row.headers ?? {})
    expect(response.headers['access-control-allow-credentials']).toBeUndefined()
    const preflight = response.headers['access-control-allow-methods'] !== undefined
    expect(response.headers['access-control-expose-headers']).toBe(preflight ? undefined : '*')

    connection.send(postBytes(appPath(), blockNumber))
    const next = await connection.next()
    expect([next.status, next.body]).toEqual([200, '{"jsonrpc":"2.0","id":7,"result":"0x0"}'])
    expect(next.headers['x-chain-id']).toBe(String(chainIds.testnet))
    connection.destroy()
  })

  test('all of them pipelined on one connection get their responses in order', async () => {
    const connection = await openRaw(started.port)
    connection.send(Buffer.concat(rows.map((row) => Buffer.from(row.bytes()))))
    for (const row of rows) {
      const response = await connection.next()
      expect([row.name, response.status]).toEqual([row.name, row.status])
    }
    connection.destroy()
  })
})

describe('a rejection that closes the connection', () => {
  const endings: readonly (Row & { readonly slow?: boolean })[] = [
    {
      name: 'a Content-Length that is too large',
      bytes: () => postBytes(keyPath(), 'x'.repeat(10_001)),
      status: 413,
      error: {
        code: -32600,
        message: 'Request body too large',
        reason: 'body_too_large',
        data: { maxBodyBytes: 10_000 },
      },
    },
    {
      name: 'a chunked body far beyond the limit',
      bytes: () =>
        `POST ${keyPath()} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${`1000\r\n${'x'.repeat(4096)}\r\n`.repeat(500)}`,
      status: 413,
      error: {
        code: -32600,
        message: 'Request body too large',
        reason: 'body_too_large',
        data: { maxBodyBytes: 10_000 },
      },
    },
    {
      name: 'an unknown key with a chunked body beyond the limit',
      bytes: () =>
        `POST /testnet/none HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${`1000\r\n${'x'.repeat(4096)}\r\n`.repeat(500)}`,
      status: 413,
      error: {
        code: -32600,
        message: 'Request body too large',
        reason: 'body_too_large',
        data: { maxBodyBytes: 10_000 },
      },
    },
    {
      name: 'a body that is too large and waits for 100 Continue',
      bytes: () => `POST ${keyPath()} HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\nExpect: 100-continue\r\n\r\n`,
      status: 413,
      error: {
        code: -32600,
        message: 'Request body too large',
        reason: 'body_too_large',
        data: { maxBodyBytes: 10_000 },
      },
    },
    {
      name: 'an unknown expectation',
      bytes: () => `POST ${keyPath()} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: cake\r\n\r\n{}`,
      status: 417,
      error: {
        code: -32600,
        message: 'Expectation failed: only 100-continue is supported',
        reason: 'expectation_failed',
      },
    },
    {
      name: 'both Content-Length and Transfer-Encoding',
      bytes: () =>
        `POST ${keyPath()} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
      status: 400,
      error: { code: -32600, message: 'Bad Request: not a well-formed HTTP request', reason: 'bad_http' },
    },
    {
      name: 'two Host headers',
      bytes: () => `POST ${keyPath()} HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}`,
      status: 400,
      error: { code: -32600, message: 'Bad Request: not a well-formed HTTP request', reason: 'bad_http' },
    },
    {
      name: 'two different lengths',
      bytes: () => `POST ${keyPath()} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n`,
      status: 400,
      error: { code: -32600, message: 'Bad Request: not a well-formed HTTP request', reason: 'bad_http' },
    },
    {
      name: 'a chunk size that is not a number',
      bytes: () => `POST ${keyPath()} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      status: 400,
      error: { code: -32600, message: 'Bad Request: not a well-formed HTTP request', reason: 'bad_http' },
    },
    {
      name: 'bytes that are not HTTP',
      bytes: () => '\u0016\u0003\u0001hello\r\n\r\n',
      status: 400,
      error: { code: -32600, message: 'Bad Request: not a well-formed HTTP request', reason: 'bad_http' },
    },
    {
      name: 'CONNECT',
      bytes: () => 'CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n',
      status: 400,
      error: { code: -32600, message: 'Bad Request: not a well-formed HTTP request', reason: 'bad_http' },
    },
    {
      name: 'a header that is too large',
      bytes: () => `POST ${keyPath()} HTTP/1.1\r\nHost: x\r\nX-Large: ${'y'.repeat(200_000)}\r\n\r\n`,
      status: 431,
      error: { code: -32600, message: 'Request headers too large', reason: 'headers_too_large' },
    },
    {
      name: 'a header that never ends',
      bytes: () => `POST ${keyPath()} HTTP/1.1\r\nHost: x\r\n`,
      status: 408,
      error: { code: -32600, message: 'The request did not arrive in time', reason: 'request_timeout' },
    },
    {
      name: 'a body that never ends',
      bytes: () => `POST ${keyPath()} HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{`,
      status: 408,
      error: { code: -32600, message: 'The request did not arrive in time', reason: 'request_timeout' },
    },
  ]

  test.concurrent.each(endings)('$name: a readable $status, and then the connection is closed', async (row) => {
    const connection = await openRaw(started.port)
    connection.send(row.bytes())
    const response = await connection.next()
    const id = response.headers['x-request-id'] ?? ''
    expect(id).toMatch(requestId)
    expect([response.status, response.body]).toEqual([row.status, errorBody(row, id)])
    expect(response.headers['connection']).toBe('close')
    expect(response.headers['access-control-allow-origin']).toBe('*')
    await connection.ended
  })

  test('requests before a broken one on the same connection still get their responses', async () => {
    const connection = await openRaw(started.port)
    connection.send(
      Buffer.concat([postBytes(keyPath(), blockNumber), postBytes(keyPath(), blockNumber), Buffer.from('?\r\n\r\n')]),
    )
    expect([
      (await connection.next()).status,
      (await connection.next()).status,
      (await connection.next()).status,
    ]).toEqual([200, 200, 400])
    await connection.ended
  })

  test('a caller that reads only after it has sent for a while gets its response: the connection is not reset before', async () => {
    for (let run = 0; run < 3; run += 1) {
      const socket = connect({ port: started.port, host: '127.0.0.1' })
      const ended = new Promise<Error | undefined>((resolve) => {
        socket.once('error', resolve)
        socket.once('end', () => resolve(undefined))
      })
      socket.pause()
      socket.write(`POST ${keyPath()} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
      // Shorter than the gateway's grace period, also on a busy machine.
      for (let sent = 0; sent < 8; sent += 1) {
        socket.write(`8000\r\n${'x'.repeat(0x8000)}\r\n`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      socket.write('0\r\n\r\n')
      let text = ''
      socket.on('data', (chunk) => (text += chunk.toString()))
      socket.resume()
      expect([await ended, text.slice(0, 12)]).toEqual([undefined, 'HTTP/1.1 413'])
    }
  })

  test('a program that uploads a large body can read why it was rejected', async () => {
    const response = await fetch(`${started.url}${keyPath()}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: 'x'.repeat(3_000_000),
    })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ error: { data: { reason: 'body_too_large' } } })
  })
})

describe('accepts', () => {
  const accepted: readonly { name: string; bytes: () => string | Buffer }[] = [
    ...['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json-rpc', 'application/jsonrequest'].map(
      (type) => ({
        name: `the content type ${type}`,
        bytes: () => postBytes(keyPath(), blockNumber, { 'Content-Type': type }),
      }),
    ),
    {
      name: 'no content type',
      bytes: () =>
        `POST ${keyPath()} HTTP/1.1\r\nHost: x\r\nContent-Length: ${blockNumber.length}\r\n\r\n${blockNumber}`,
    },
    {
      name: 'no Host header',
      bytes: () => `POST ${keyPath()} HTTP/1.1\r\nContent-Length: ${blockNumber.length}\r\n\r\n${blockNumber}`,
    },
    {
      name: 'an upgrade request, without an upgrade',
      bytes: () => postBytes(keyPath(), blockNumber, { Connection: 'Upgrade', Upgrade: 'websocket' }),
    },
    { name: 'a query', bytes: () => postBytes(`${keyPath()}?chain=1/2#x`, blockNumber) },
    { name: 'an absolute target', bytes: () => postBytes(`http://other.example${keyPath()}`, blockNumber) },
    { name: 'white space around the request', bytes: calls(` \r\n\t${blockNumber}\n`) },
    { name: 'a body in chunks', bytes: () => chunked(keyPath(), blockNumber) },
  ]

  test.each(accepted)('$name', async ({ bytes }) => {
    const connection = await openRaw(started.port)
    connection.send(bytes())
    const response = await connection.next()
    expect([response.status, response.body]).toEqual([200, '{"jsonrpc":"2.0","id":7,"result":"0x0"}'])
    connection.destroy()
  })

  test('a body sent after 100 Continue', async () => {
    const connection = await openRaw(started.port)
    connection.send(
      `POST ${keyPath()} HTTP/1.1\r\nHost: x\r\nContent-Length: ${blockNumber.length}\r\nExpect: 100-continue\r\n\r\n`,
    )
    expect((await connection.next()).status).toBe(100)
    connection.send(blockNumber)
    expect((await connection.next()).status).toBe(200)
    connection.destroy()
  })

  test('GET /healthz and /readyz', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const response = await fetch(started.url + path)
      expect([path, response.status, await response.text()]).toEqual([path, 200, '{"status":"ok"}'])
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
    }
  })
})

const chunked = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body.replaceAll(/./gs, '1\r\n$&\r\n')}0\r\n\r\n`
