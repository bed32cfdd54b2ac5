import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getApiKeyUrl, getAppUrl } from '../src/index.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

let upstream: FakeUpstream
let started: StartedGateway
let rpcUrl: string

beforeAll(async () => {
  upstream = await startFakeUpstream(chainIds.testnet)
  started = await startGateway({ testnet: [upstream.url] })
  rpcUrl = getApiKeyUrl(started.url, 'testnet', started.testnetKey)
})
afterAll(async () => {
  await started.gateway.close()
  await upstream.stop()
})

const ids = [
  '1',
  '1.0',
  '1e3',
  '-0',
  '0.1E-7',
  '9007199254740993',
  '1e400',
  '123456789012345678901234567890',
  '"\\u0061"',
  '"a"',
  '""',
  '"\\ud800"',
  '"é\\"\\\\"',
  'null',
]

describe('ids', () => {
  test.each(ids)('%s is returned as it was sent', async (id) => {
    upstream.behave = (call) => result(call, '"0x1"')
    const response = await post(rpcUrl, `{"jsonrpc":"2.0","id": ${id} ,"method":"eth_blockNumber"}`)
    expect(response.text).toBe(`{"jsonrpc":"2.0","id":${id},"result":"0x1"}`)
  })

  test('in a batch too, also if they repeat', async () => {
    upstream.behave = (call) => result(call, `"${call.method}"`)
    const all = [...ids, '1', '1']
    const response = await post(
      rpcUrl,
      `[${all.map((id) => `{"jsonrpc":"2.0","id":${id},"method":"eth_gasPrice"}`).join(',')}]`,
    )
    expect(response.text).toBe(`[${all.map((id) => `{"jsonrpc":"2.0","id":${id},"result":"eth_gasPrice"}`).join(',')}]`)
  })

  test('no two calls to a node share an id, even if their callers use the same one', async () => {
    upstream.bodies.length = 0
    const call = (nonce: number): string => `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[${nonce}]}`
    await Promise.all([post(rpcUrl, call(1)), post(rpcUrl, call(2)), post(rpcUrl, `[${call(3)},${call(4)}]`)])
    const seen = upstream.bodies
      .flatMap((body) => JSON.parse(body) as { id: number } | { id: number }[])
      .map(({ id }) => id)
    expect([seen.length, new Set(seen).size]).toEqual([4, 4])
  })
})

describe('params', () => {
  test.each([
    '[9007199254740993,1.0,1e400,-0,0.1000000000000000055511151231257827]',
    '["\\u0061\\/","é"," ", {"b":1,"b":2,"__proto__":{"x":1}} ]',
    '[ [ ] , { } ]',
    '{"named":true}',
  ])('%s reaches the node byte for byte', async (params) => {
    upstream.bodies.length = 0
    upstream.behave = (call) => result(call, 'null')
    await post(rpcUrl, `{"params":${params},"method":"eth_call","x":{"y":[1]},"id":1,"jsonrpc":"2.0"}`)
    const [body = ''] = upstream.bodies
    expect(body.replace(/"id":\d+/, '"id":N')).toBe(`{"jsonrpc":"2.0","id":N,"method":"eth_call","params":${params}}`)
  })

  test('that are missing reach the node as an empty list', async () => {
    upstream.bodies.length = 0
    await post(rpcUrl, '{"method":"eth_\\u0067asPrice","id":1,"jsonrpc":"2.0"}')
    expect(upstream.bodies[0]?.replace(/"id":\d+/, '"id":N')).toBe(
      '{"jsonrpc":"2.0","id":N,"method":"eth_gasPrice","params":[]}',
    )
  })

  test('nothing else of the request reaches the node', async () => {
    upstream.headers.length = 0
    await post(
      getAppUrl(started.url, 'testnet', started.app),
      '{"method":"eth_gasPrice","id":1,"jsonrpc":"2.0","extra":1}',
      {
        headers: { 'content-type': 'application/json', authorization: 'Bearer x', 'x-mine': 'y', cookie: 'a=b' },
      },
    )
    expect(Object.keys(upstream.headers[0] ?? {}).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'host',
    ])
  })
})

describe('results', () => {
  test.each([
    'null',
    'false',
    '0',
    '9007199254740993',
    '[1.0, 1e3 ,{"a" : "\\u0061é😀"}]',
    '{"id":5,"result":1,"error":{"jsonrpc":"2.0"}}',
  ])('%s is returned byte for byte', async (value) => {
    upstream.behave = (call) => ` {"result" : ${value} , "id" : ${call.id}, "jsonrpc":"2.0"}\n`
    const response = await post(rpcUrl, '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}')
    expect([response.status, response.text]).toEqual([200, `{"jsonrpc":"2.0","id":1,"result":${value}}`])
  })

  test('of 5 MB too, single and in a batch', async () => {
    const value = `["${'é"\\'.replaceAll(/["\\]/g, '\\$&').repeat(1_000_000)}"]`
    upstream.behave = (call) => result(call, value)
    const one = await post(rpcUrl, '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}')
    expect(one.text === `{"jsonrpc":"2.0","id":1,"result":${value}}`).toBe(true)
    const two = await post(
      rpcUrl,
      '[{"jsonrpc":"2.0","id":1,"method":"eth_call"},{"jsonrpc":"2.0","id":2,"method":"eth_call"}]',
    )
    expect(two.text === `[{"jsonrpc":"2.0","id":1,"result":${value}},{"jsonrpc":"2.0","id":2,"result":${value}}]`).toBe(
      true,
    )
  })

  test.each([
    '{"code":3,"message":"execution reverted","data":"0x08c379a0"}',
    '{ "code": -32000.0, "message": "nonce too low", "more": [1.0] }',
    '{}',
  ])("a node's error %s is returned byte for byte, with status 200", async (error) => {
    upstream.behave = (call) => `{"jsonrpc":"2.0","id":${call.id},"error":${error},"result":null}`
    const response = await post(rpcUrl, '{"jsonrpc":"2.0","id":"x","method":"eth_call","params":[]}')
    expect([response.status, response.text]).toEqual([200, `{"jsonrpc":"2.0","id":"x","error":${error}}`])
  })

  test("a node's error is returned also if the node sent it with status 400 and with id null", async () => {
    upstream.behave = (_, response) => {
      response.statusCode = 400
      return '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"nested too deep"}}'
    }
    const response = await post(rpcUrl, '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}')
    expect([response.status, response.text]).toEqual([
      200,
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"nested too deep"}}',
    ])
  })
})

describe('expensive bodies', () => {
  test.each([
    [
      'a million brackets',
      `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
      400,
    ],
    [
      'a million brackets in an extra member',
      `{"x":${'['.repeat(500_000)}${']'.repeat(500_000)},"jsonrpc":"2.0","id":1,"method":"eth_call"}`,
      400,
    ],
    [
      'a number of a million digits',
      `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[${'9'.repeat(1_000_000)}]}`,
      200,
    ],
    ['an id of a million digits', `{"jsonrpc":"2.0","id":${'9'.repeat(1_000_000)},"method":"eth_call"}`, 200],
    ['a million unclosed brackets', '['.repeat(1_000_000), 400],
    ['a million quotes', `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":["${'\\"'.repeat(900_000)}"]}`, 200],
    ['a hundred thousand members', `{${Array.from({ length: 100_000 }, (_, i) => `"m${i}":0`).join(',')}}`, 400],
  ] as const)('%s take less than two seconds of CPU time', async (_, body, status) => {
    upstream.behave = (call) => result(call, 'true')
    const before = process.threadCpuUsage()
    const response = await post(rpcUrl, body)
    expect(response.status).toBe(status)
    const { user, system } = process.threadCpuUsage(before)
    expect(user + system).toBeLessThan(2_000_000)
  })
})
