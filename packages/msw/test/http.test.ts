import { batch, createClient, safeWrites } from '@keyrail/fetch'
import type { EndpointUrlOptions } from '@keyrail/core'
import { JsonRpcProvider } from 'ethers'
import { getResponse, HttpHandler } from 'msw'
import { setupServer } from 'msw/node'
import nodeHttp from 'node:http'
import { createPublicClient, http } from 'viem'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Web3 } from 'web3'
import { createMockNode } from '../src/index.ts'
import type { MockNode, MockNodeOptions, ProviderName } from '../src/index.ts'
import { getKind, openClient } from './clients.ts'

const key = `kr_a${'k3Y'.repeat(13)}`
const call = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'eth_chainId', params: [] })
const headers = { 'content-type': 'application/json' }
const close: (() => void)[] = []
afterEach(() => {
  for (const one of close.splice(0)) one()
})

const serve = (options: MockNodeOptions): MockNode => {
  const node = createMockNode(options)
  const server = setupServer(...node.handlers)
  server.listen({ onUnhandledFrame: 'error' })
  close.push(() => server.close())
  return node
}
const httpHandlers = ({ handlers }: MockNode): HttpHandler[] =>
  handlers.filter((handler) => handler instanceof HttpHandler)
const post = async (
  node: MockNode,
  url: string,
  init: RequestInit = {},
): Promise<{ status: number; body: string } | undefined> => {
  const response = await getResponse(
    httpHandlers(node),
    new Request(url, { method: 'POST', headers, body: call, ...init }),
  )
  return response && { status: response.status, body: await response.text() }
}

describe('msw replaces the network', () => {
  const url = 'http://node.example/rpc'

  test('of node:http, of fetch and of every library', async () => {
    serve({ url, chainId: 5 })
    const client = createClient({ url })
    const byHttp = new Promise<string>((resolve, reject) => {
      const request = nodeHttp.request(url, { method: 'POST', headers }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve(text))
      })
      request.on('error', reject)
      request.end(call)
    })
    expect(await client.eth_chainId()).toBe('0x5')
    expect(JSON.parse(await byHttp)).toEqual({ jsonrpc: '2.0', id: 7, result: '0x5' })
    expect(await (await fetch(url, { method: 'POST', headers, body: call })).json()).toMatchObject({ result: '0x5' })
    expect(await createPublicClient({ transport: http(url) }).getChainId()).toBe(5)
    const provider = new JsonRpcProvider(url)
    expect((await provider.getNetwork()).chainId).toBe(5n)
    provider.destroy()
    expect(await new Web3(url).eth.getChainId()).toBe(5n)
    client.close()
  })

  test('each of a hundred concurrent calls gets its own result, with and without batches', async () => {
    const node = serve({ url })
    for (const [index, { address }] of node.accounts.entries()) node.setBalance(address, BigInt(index))
    for (const options of [{ url }, { url, batch: batch() }]) {
      const client = createClient(options)
      const addresses = Array.from({ length: 100 }, (_, index) => node.accounts[index % 10]!.address)
      const got = await Promise.all(addresses.map((address) => client.eth_getBalance(address, 'latest')))
      expect(got).toEqual(addresses.map((_, index) => `0x${index % 10}`))
      client.close()
    }
  })
})

describe('the endpoint', () => {
  const base = 'https://node.example/testnet'

  test.each<[string, EndpointUrlOptions, string]>([
    ['an app', { baseUrl: base, apiKey: key }, `${base}/v2/${key}`],
    ['an API key', { rpcUrl: base, apiKey: key }, `${base}/${key}`],
    ['a key from a function', { rpcUrl: base, apiKey: async () => key }, `${base}/${key}`],
    ['a key with special characters', { rpcUrl: base, apiKey: `a$&'()*+,-.:;=@~!z` }, `${base}/a$&'()*+,-.:;=@~!z`],
    [
      'one of two networks',
      { baseUrl: { testnet: base, mainnet: 'https://node.example/mainnet' }, network: 'mainnet', apiKey: key },
      `https://node.example/mainnet/v2/${key}`,
    ],
    [
      'a network in the path',
      { baseUrl: 'https://node.example/{network}', network: 'base-mainnet', apiKey: key },
      `https://node.example/base-mainnet/v2/${key}`,
    ],
    [
      'a network in the host',
      { rpcUrl: 'https://{network}.rpc.example.org', network: 'sepolia', apiKey: key },
      `https://sepolia.rpc.example.org/${key}`,
    ],
    [
      'a full URL of a network',
      { url: `https://node.example/{network}/v2/${key}`, network: 'sepolia' },
      `https://node.example/sepolia/v2/${key}`,
    ],
    ['a full URL', { url: `${base}/v2/${key}?a=b` }, `${base}/v2/${key}?a=b`],
  ])('for %s is the URL that the SDK calls', async (_, address, url) => {
    const node = serve({ ...address, chainId: 5 } as MockNodeOptions)
    expect(await post(node, url)).toMatchObject({ status: 200, body: '{"jsonrpc":"2.0","id":7,"result":"0x5"}' })
    const client = createClient(address)
    expect(await client.eth_chainId()).toBe('0x5')
    client.close()
  })

  test('one node serves several endpoints', async () => {
    const node = serve({
      endpoints: [
        { baseUrl: base, apiKey: key },
        { rpcUrl: base, apiKey: `${key}x` },
      ],
    })
    expect(await post(node, `${base}/v2/${key}`)).toMatchObject({ status: 200 })
    expect(await post(node, `${base}/${key}x`)).toMatchObject({ status: 200 })
    expect(await post(node, `${base}/${key}`)).toMatchObject({ status: 401 })
  })

  describe.each<[string, object]>([
    ['one base URL', { baseUrl: 'https://node.example/{network}' }],
    ['a record', { baseUrl: { sepolia: 'https://s.example', 'base-mainnet': 'https://node.example/base-mainnet' } }],
    ['hosts', { rpcUrl: 'https://{network}.rpc.example.org' }],
  ])('of two nodes in one server, with %s,', (_, urls) => {
    const sepolia = { ...urls, network: 'sepolia', apiKey: key, chainId: 11155111 } as EndpointUrlOptions
    const mainnet = { ...urls, network: 'base-mainnet', apiKey: key, chainId: 8453 } as EndpointUrlOptions
    let nodes: readonly [MockNode, MockNode]
    beforeEach(() => {
      nodes = [createMockNode(sepolia), createMockNode(mainnet)]
      const server = setupServer(...nodes.flatMap(({ handlers }) => handlers))
      server.listen({ onUnhandledFrame: 'error' })
      close.push(() => server.close())
    })

    test('leads to its own node', async () => {
      nodes[1].mine(5)
      const [test, main] = [createClient(sepolia), createClient(mainnet)]
      expect(await Promise.all([test.eth_chainId(), test.eth_blockNumber()])).toEqual(['0xaa36a7', '0x0'])
      expect(await Promise.all([main.eth_chainId(), main.eth_blockNumber()])).toEqual(['0x2105', '0x5'])
      expect(nodes.map((node) => node.calls().length)).toEqual([2, 2])
      test.close()
      main.close()
    })

    test('fails alone, and rejects a wrong key alone', async () => {
      nodes[0].fail('unavailable', { times: Infinity })
      const [test, main] = [openClient('fetch', { ...sepolia, retry: false }), createClient(mainnet)]
      const wrong = openClient('fetch', { ...mainnet, apiKey: 'other', retry: false } as never)
      expect(await getKind(test, 'eth_chainId')).toBe('unavailable')
      expect(await main.eth_chainId()).toBe('0x2105')
      expect(await getKind(wrong, 'eth_chainId')).toBe('auth')
      for (const client of [test, main, wrong]) client.close()
    })
  })

  test('of another network is left to other handlers', async () => {
    const urls = { testnet: base, mainnet: 'https://node.example/mainnet' }
    const node = createMockNode({ baseUrl: urls, network: 'mainnet', apiKey: key })
    expect(await post(node, `${base}/v2/${key}`)).toBeUndefined()
  })

  test.each<[ProviderName, number]>([
    ['keyrail', 401],
    ['alchemy', 401],
    ['infura', 401],
    ['quicknode', 401],
    ['ankr', 401],
    ['drpc', 200],
  ])('a wrong key is rejected as %s does, and classified as auth', async (provider, status) => {
    const node = serve({ baseUrl: base, apiKey: key, provider })
    expect((await post(node, `${base}/v2/other`))?.status).toBe(status)
    const client = openClient('fetch', { baseUrl: base, apiKey: 'other', retry: false })
    expect(await getKind(client, 'eth_chainId')).toBe('auth')
    client.close()
    expect(node.calls()).toEqual([])
  })

  test.each<[what: string, options: MockNodeOptions, url: string, kind: string, expected: string]>([
    ['the other path', { baseUrl: base, apiKey: key }, `${base}/${key}`, 'auth', 'key_wrong_path'],
    ['the other path, for an API key', { rpcUrl: base, apiKey: key }, `${base}/v2/${key}`, 'auth', 'key_wrong_path'],
    ['another path', { baseUrl: base, apiKey: key }, `${base}/v3/${key}`, 'invalidRequest', 'not_found'],
    ['no key', { baseUrl: base, apiKey: key }, `${base}`, 'invalidRequest', 'not_found'],
    ['no token', { baseUrl: base, apiKey: key, jwt: 'a.b.c' }, `${base}/v2/${key}`, 'auth', 'jwt_invalid'],
  ])('%s is rejected with a reason', async (...[, options, url, kind, expected]) => {
    const node = serve(options)
    const response = await post(node, url)
    expect(response?.body).toContain(expected)
    expect(response?.body).not.toContain(key)
    const client = openClient('fetch', { url, retry: false })
    expect(await getKind(client, 'eth_chainId')).toBe(kind)
    client.close()
  })

  test('a valid token is accepted', async () => {
    const node = serve({ baseUrl: base, apiKey: key, jwt: () => 'a.b.c' })
    const client = createClient({ baseUrl: base, apiKey: key, jwt: 'a.b.c' })
    expect(await client.eth_chainId()).toBe('0x7a69')
    expect(node.calls()).toHaveLength(1)
    client.close()
  })

  test('requests to other URLs are left to other handlers', async () => {
    const node = createMockNode({ url: `${base}/v2/${key}` })
    for (const url of [
      `${base}/v2`,
      `${base}/v2/${key}x`,
      `${base}/v2/${key}?a=b`,
      `https://other.example/testnet/v2/${key}`,
    ]) {
      expect(await post(node, url)).toBeUndefined()
    }
    const app = createMockNode({ baseUrl: base, apiKey: key })
    for (const url of ['https://node.example/testnet2', 'https://node.example/', 'http://node.example/testnet']) {
      expect(await post(app, url)).toBeUndefined()
    }
  })

  test.each<[object | undefined, string]>([
    [undefined, 'createMockNode takes an object of options, not undefined'],
    ['https://node.example' as never, 'createMockNode takes an object of options, not a string'],
    [{ url: base, provder: 'geth' }, 'Unknown option "provder". Did you mean "provider"?'],
    [{ url: base, ttl: 5 }, 'Unknown option "ttl". The options of createMockNode are url, '],
    [{ url: base, limits: { maxbatch: 5 } }, 'Unknown option "maxbatch". Did you mean "maxBatch"?'],
    [{ endpoints: [{ URL: base }] }, 'Unknown option "URL". Did you mean "url"?'],
    [{ url: 'localhost:8545' }, 'url has no scheme'],
    [{ url: '' }, 'url is empty'],
    [{}, 'The endpoint has no URL. Pass { url }, { baseUrl, apiKey } or { rpcUrl, apiKey }'],
    [{ url: 'https://a.example', apiKey: key }, 'The endpoint has url and apiKey. Pass { url }, '],
    [{ baseUrl: base }, 'The endpoint has baseUrl. Pass { url }, { baseUrl, apiKey }'],
    [{ baseUrl: base, rpcUrl: base, apiKey: key }, 'The endpoint has baseUrl and rpcUrl and apiKey'],
    [{ baseUrl: base, apiKey: `a/${key}` }, 'apiKey contains "/". If it is the full URL, pass it as url'],
    [{ baseUrl: 'node.example', apiKey: key }, 'baseUrl has no scheme'],
    [{ url: `ftp://node.example/${key}` }, 'url starts with ftp://, which is not supported'],
    [{ baseUrl: { testnet: base, mainnet: base }, apiKey: key }, 'Pass network, one of testnet, mainnet.'],
    [{ baseUrl: { testnet: base }, apiKey: key, network: 'sepolia' }, 'Unknown network "sepolia". baseUrl has testnet'],
    [{ baseUrl: 'https://node.example/{network}', apiKey: key }, 'baseUrl contains {network}. Pass network, such as'],
    [{ url: base, network: 'Sepolia' }, 'network must be a name such as "sepolia"'],
    [{ url: base, chainId: { testnet: 5 } }, 'chainId is a record of networks. Pass network, one of testnet.'],
    [
      { endpoints: [{ url: base, chainId: 1 }, { url: base }, { url: `${base}/x`, chainId: 5 }] },
      'endpoints have the chain ids 1 and 5, but a node is on one chain. Create a node for each chain',
    ],
    [{ endpoints: [] }, 'endpoints is empty. Pass one endpoint or more'],
    [{ url: base, chainId: 0 }, 'chainId is 0. Use an integer of 1 or more'],
    [{ url: base, provider: 'unknown' }, 'Unknown provider "unknown". Use one of keyrail, alchemy'],
    [{ url: base, blockTime: 0 }, 'blockTime is 0. Use an integer of 1 or more'],
    [{ url: base, timestamp: 0.5 }, 'timestamp is 0.5. Use an integer'],
  ])('createMockNode rejects %j', (options, message) => {
    const make = (): MockNode => createMockNode(options as never)
    expect(make).toThrow(message)
    expect(make).toThrow(expect.not.stringContaining(key) as never)
  })
})

describe('an invalid request', () => {
  const url = 'https://node.example/rpc'
  test.each<[string, RequestInit, number, string]>([
    ['another method', { method: 'GET', body: null }, 405, 'use POST'],
    ['another content type', { headers: { 'content-type': 'text/plain' } }, 415, 'use application/json'],
    ['a body that is not JSON', { body: '{' }, 400, '-32700'],
    ['an empty batch', { body: '[]' }, 400, '-32600'],
    ['a number', { body: '5' }, 400, '-32600'],
    ['no method', { body: '{"id":1}' }, 400, '-32600'],
    ['params that are not an array', { body: '{"id":1,"method":"eth_chainId","params":{}}' }, 400, '-32600'],
  ])('%s', async (_, init, status, expected) => {
    const response = await post(createMockNode({ url }), url, init)
    expect(response?.status).toBe(status)
    expect(response?.body).toContain(expected)
  })

  test('in a batch is rejected alone', async () => {
    const response = await post(createMockNode({ url }), url, { body: `[${call},5]` })
    expect(JSON.parse(response!.body)).toMatchObject([
      { id: 7, result: '0x7a69' },
      { id: null, error: { code: -32_600 } },
    ])
  })

  test('with too many calls is rejected, with the number', async () => {
    const node = createMockNode({ url, limits: { maxBatch: 2 } })
    const response = await post(node, url, { body: `[${call},${call},${call}]` })
    expect(response).toMatchObject({ status: 413 })
    expect(response?.body).toContain('Batch too large: 3 > 2')
    for (const [provider, expected] of [
      ['alchemy', 'at most 2 requests'],
      ['drpc', 'more than 2 requests'],
    ] as const) {
      node.provider = provider
      expect((await post(node, url, { body: `[${call},${call},${call}]` }))?.body).toContain(expected)
    }
  })
})

test('an unknown method fails with -32601, and prints one warning', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const url = 'https://node.example/rpc'
  const node = createMockNode({ url })
  const body = (method: string): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: ['a'] })
  for (let time = 0; time < 3; time++) {
    expect((await post(node, url, { body: body('my_score') }))?.body).toContain('the method my_score does not exist')
  }
  expect(warn.mock.calls).toEqual([[expect.stringContaining(`node.mockMethod('my_score'`)]])
  for (const inherited of ['toString', 'constructor', '__proto__']) {
    expect((await post(node, url, { body: body(inherited) }))?.body).toContain('-32601')
  }
  node.mockMethod('my_score', ([who]) => `${String(who)}!`)
  expect((await post(node, url, { body: body('my_score') }))?.body).toContain('"result":"a!"')
  node.mockMethod('my_later', async () => ({ n: 1 }))
  expect((await post(node, url, { body: body('my_later') }))?.body).toContain('"result":{"n":1}')
  node.mockMethod('my_error', () => {
    throw Object.assign(new Error('no score'), { code: -32_050, data: [1] })
  })
  expect(JSON.parse((await post(node, url, { body: body('my_error') }))!.body)).toMatchObject({
    error: { code: -32_050, message: 'no score', data: [1] },
  })
  warn.mockRestore()
})

test('received calls are listed, without the key', async () => {
  const node = createMockNode({ baseUrl: 'https://node.example/testnet', apiKey: key })
  await post(node, `https://node.example/testnet/v2/${key}`)
  await post(node, `https://node.example/testnet/v2/${key}`, { body: '{"id":1,"method":"eth_getBalance","params":[]}' })
  expect(node.calls()).toEqual([
    { method: 'eth_chainId', params: [], batch: false, outcome: 'result' },
    {
      method: 'eth_getBalance',
      params: [],
      batch: false,
      outcome: 'error',
      error: { code: -32_602, message: 'missing value for required argument 0' },
    },
  ])
  expect(node.calls('eth_chainId')).toHaveLength(1)
  expect(JSON.stringify(node)).not.toContain(key)
})

test('clearFaults ends requests that hang', async () => {
  const url = 'https://node.example/rpc'
  const node = serve({ url })
  const client = openClient('fetch', { url, retry: false })
  node.fail('hang', { times: Infinity })
  const kind = getKind(client, 'eth_chainId')
  await vi.waitFor(() => expect(node.calls()).toMatchObject([{ outcome: 'fault', fault: 'hang' }]), { timeout: 30_000 })
  node.clearFaults()
  expect(await kind).toBe('network')
  expect(await client.request('eth_chainId')).toBe('0x7a69')
  client.close()
})

describe('a fault', () => {
  const url = 'https://node.example/rpc'
  const status = async (node: MockNode, method = 'eth_chainId'): Promise<number | undefined> =>
    (await post(node, url, { body: JSON.stringify({ id: 1, method, params: [] }) }))?.status

  test('applies to its methods only, as often as times says, after the calls that after says', async () => {
    const node = createMockNode({ url })
    node.fail('unavailable', { method: ['eth_chainId', 'net_version'], after: 1, times: 2 })
    const seen = [
      await status(node),
      await status(node, 'eth_gasPrice'),
      await status(node, 'net_version'),
      await status(node),
      await status(node),
    ]
    expect(seen).toEqual([200, 200, 503, 503, 200])
  })

  test('is cancelled by the function that fail returns, and by clearFaults', async () => {
    const node = createMockNode({ url })
    const cancel = node.fail('unavailable')
    cancel()
    expect(await status(node)).toBe(200)
    node.fail('unavailable', { times: Infinity })
    expect([await status(node), await status(node)]).toEqual([503, 503])
    node.clearFaults()
    expect(await status(node)).toBe(200)
  })

  test('has a retry-after header if retryAfterMs is set', async () => {
    const node = createMockNode({ url, provider: 'alchemy' })
    node.fail('throttled', { retryAfterMs: 1_500 })
    const response = await getResponse(httpHandlers(node), new Request(url, { method: 'POST', headers, body: call }))
    expect([response?.status, response?.headers.get('retry-after')]).toEqual([429, '2'])
    node.fail('throttled')
    const without = await getResponse(httpHandlers(node), new Request(url, { method: 'POST', headers, body: call }))
    expect([without?.status, without?.headers.get('retry-after')]).toEqual([429, null])
  })

  test('can have a custom message and data', async () => {
    const node = createMockNode({ url })
    node.fail('revert', { message: 'execution reverted: no', data: '0x1234' })
    const response = await post(node, url, { body: '{"id":1,"method":"eth_call","params":[{}]}' })
    expect(JSON.parse(response!.body)).toMatchObject({
      error: { code: 3, message: 'execution reverted: no', data: '0x1234' },
    })
  })

  test.each<[unknown, object, string]>([
    ['aborted', {}, 'Abort the signal of the call'],
    ['nothing', {}, 'Unknown fault "nothing". Use one of auth'],
    [{ body: '' }, {}, 'The status of the response is undefined. Use an HTTP status'],
    ['auth', { times: 0 }, 'times is 0. Use an integer of 1 or more'],
    ['auth', { after: -1 }, 'after is -1. Use an integer of 0 or more'],
    ['auth', { provider: 'unknown' }, 'Unknown provider "unknown". Use one of'],
    ['auth', { provider: 'toString' }, 'Unknown provider "toString"'],
    ['toString', {}, 'Unknown fault "toString"'],
  ])('of %j with %j is rejected', (kind, options, message) => {
    expect(() => createMockNode({ url }).fail(kind as never, options)).toThrow(message)
  })
})

test('a lost write stays unconfirmed', async () => {
  const url = 'https://node.example/rpc'
  const node = serve({ url })
  const { keccak256 } = await import('viem')
  const { privateKeyToAccount } = await import('viem/accounts')
  const account = privateKeyToAccount(node.accounts[0]!.privateKey)
  expect(account.address).toBe(node.accounts[0]!.address)
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: 0,
    gas: 21_000n,
    to: account.address,
    maxFeePerGas: 10n ** 10n,
  })
  const client = openClient('fetch', { url, safeWrites: safeWrites({ keccak256 }), retry: false })
  node.fail('unconfirmed')
  expect(await getKind(client, 'eth_sendRawTransaction', [raw])).toBe('unconfirmed')
  node.clearFaults()
  expect(await client.request('eth_sendRawTransaction', [raw])).toBe(keccak256(raw))
  client.close()
})
