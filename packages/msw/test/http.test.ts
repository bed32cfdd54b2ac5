import { createClient } from '@keyrail/fetch'
import type { AddressOptions } from '@keyrail/core'
import { JsonRpcProvider } from 'ethers'
import { getResponse } from 'msw'
import { setupServer } from 'msw/node'
import nodeHttp from 'node:http'
import { createPublicClient, http } from 'viem'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Web3 } from 'web3'
import { createMockNode } from '../src/index.ts'
import type { MockNode, MockNodeOptions, Personality } from '../src/index.ts'
import { kindOf, openClient } from './clients.ts'

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
const post = async (
  node: MockNode,
  url: string,
  init: RequestInit = {},
): Promise<{ status: number; body: string } | undefined> => {
  const response = await getResponse(node.handlers, new Request(url, { method: 'POST', headers, body: call, ...init }))
  return response && { status: response.status, body: await response.text() }
}

describe('msw stands in for the network', () => {
  const url = 'http://node.example/rpc'

  test('of the carrier over node:http, of fetch, and of every library', async () => {
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

  test('a hundred calls at once, in batches and alone, each get their own answer', async () => {
    const node = serve({ url })
    for (const [index, { address }] of node.accounts.entries()) node.setBalance(address, BigInt(index))
    for (const batch of [false, true]) {
      const client = createClient({ url, batch })
      const asked = Array.from({ length: 100 }, (_, index) => node.accounts[index % 10]!.address)
      const got = await Promise.all(asked.map((address) => client.eth_getBalance(address, 'latest')))
      expect(got).toEqual(asked.map((_, index) => `0x${index % 10}`))
      client.close()
    }
  })
})

describe('the address', () => {
  const base = 'https://node.example/testnet'

  test.each<[string, AddressOptions, string]>([
    ['an app', { baseUrl: base, apiKey: key }, `${base}/v2/${key}`],
    ['an API key', { rpcUrl: base, apiKey: key }, `${base}/${key}`],
    ['a key from a function', { rpcUrl: base, apiKey: async () => key }, `${base}/${key}`],
    ['a key with signs in it', { rpcUrl: base, apiKey: `a$&'()*+,-.:;=@~!z` }, `${base}/a$&'()*+,-.:;=@~!z`],
    [
      'one of two networks',
      { baseUrl: { testnet: base, mainnet: 'https://node.example/mainnet' }, network: 'mainnet', apiKey: key },
      `https://node.example/mainnet/v2/${key}`,
    ],
    ['a whole address', { url: `${base}/v2/${key}?a=b` }, `${base}/v2/${key}?a=b`],
  ])('of %s is the one that the SDK calls', async (_, address, url) => {
    const node = serve({ ...address, chainId: 5 } as MockNodeOptions)
    expect(await post(node, url)).toMatchObject({ status: 200, body: '{"jsonrpc":"2.0","id":7,"result":"0x5"}' })
    const client = createClient(address)
    expect(await client.eth_chainId()).toBe('0x5')
    client.close()
  })

  test('both shapes of one service are answered, by one node', async () => {
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

  test.each<[Personality, number]>([
    ['keyrail', 401],
    ['alchemy', 401],
    ['infura', 401],
    ['quicknode', 401],
    ['ankr', 401],
    ['drpc', 200],
  ])('a wrong key is refused as %s does, and is auth to the SDK', async (personality, status) => {
    const node = serve({ baseUrl: base, apiKey: key, personality })
    expect((await post(node, `${base}/v2/other`))?.status).toBe(status)
    const client = openClient('fetch', { baseUrl: base, apiKey: 'other', retry: false })
    expect(await kindOf(client, 'eth_chainId')).toBe('auth')
    client.close()
    expect(node.calls()).toEqual([])
  })

  test.each<[what: string, options: MockNodeOptions, url: string, kind: string, says: string]>([
    ['the other shape', { baseUrl: base, apiKey: key }, `${base}/${key}`, 'auth', 'key_wrong_path'],
    ['the other shape, of an API key', { rpcUrl: base, apiKey: key }, `${base}/v2/${key}`, 'auth', 'key_wrong_path'],
    [
      'the other network',
      { baseUrl: { testnet: base, mainnet: 'https://node.example/mainnet' }, network: 'mainnet', apiKey: key },
      `${base}/v2/${key}`,
      'wrongNetwork',
      'wrong_network',
    ],
    ['another path', { baseUrl: base, apiKey: key }, `${base}/v3/${key}`, 'invalidRequest', 'not_found'],
    ['no key', { baseUrl: base, apiKey: key }, `${base}`, 'invalidRequest', 'not_found'],
    ['no token', { baseUrl: base, apiKey: key, jwt: 'a.b.c' }, `${base}/v2/${key}`, 'auth', 'jwt_invalid'],
  ])('%s is refused, and says so', async (...[, options, url, kind, says]) => {
    const node = serve(options)
    const answer = await post(node, url)
    expect(answer?.body).toContain(says)
    expect(answer?.body).not.toContain(key)
    const client = openClient('fetch', { url, retry: false })
    expect(await kindOf(client, 'eth_chainId')).toBe(kind)
    client.close()
  })

  test('a token is checked, and a right one let in', async () => {
    const node = serve({ baseUrl: base, apiKey: key, jwt: () => 'a.b.c' })
    const client = createClient({ baseUrl: base, apiKey: key, jwt: 'a.b.c' })
    expect(await client.eth_chainId()).toBe('0x7a69')
    expect(node.calls()).toHaveLength(1)
    client.close()
  })

  test('what is asked elsewhere is not answered', async () => {
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
    [{ url: base, persoality: 'geth' }, 'Unknown option "persoality". Did you mean "personality"?'],
    [{ url: base, ttl: 5 }, 'Unknown option "ttl". The options of createMockNode are url, '],
    [{ url: base, limits: { maxbatch: 5 } }, 'Unknown option "maxbatch". Did you mean "maxBatch"?'],
    [{ endpoints: [{ URL: base }] }, 'Unknown option "URL". Did you mean "url"?'],
    [{ url: 'localhost:8545' }, 'url is missing http:// or https:// at its start'],
    [{ url: '' }, 'url is empty: is the variable set?'],
    [{}, 'pass url alone, or baseUrl or rpcUrl with apiKey'],
    [{ url: 'https://a.example', apiKey: key }, 'pass url alone'],
    [{ baseUrl: base }, 'with apiKey'],
    [{ baseUrl: base, rpcUrl: base, apiKey: key }, 'pass url alone'],
    [{ baseUrl: base, apiKey: `a/${key}` }, 'did you paste the whole address?'],
    [{ baseUrl: 'node.example', apiKey: key }, 'baseUrl is missing http:// or https:// at its start'],
    [{ url: `ftp://node.example/${key}` }, 'url starts with ftp://, but only http and https are supported'],
    [{ baseUrl: { testnet: base, mainnet: base }, apiKey: key }, `network must be 'testnet' or 'mainnet'`],
    [{ endpoints: [] }, 'one address or more'],
    [{ url: base, chainId: 0 }, 'chainId must be'],
    [{ url: base, personality: 'nobody' }, 'personality must be one of keyrail, alchemy'],
    [{ url: base, blockTime: 0 }, 'blockTime must be'],
    [{ url: base, timestamp: 0.5 }, 'timestamp must be'],
  ])('%j is refused when it is given', (options, message) => {
    const make = (): MockNode => createMockNode(options as never)
    expect(make).toThrow(message)
    expect(make).toThrow(expect.not.stringContaining(key) as never)
  })
})

describe('a request that is none', () => {
  const url = 'https://node.example/rpc'
  test.each<[string, RequestInit, number, string]>([
    ['another method', { method: 'GET', body: null }, 405, 'use POST'],
    ['a body of another kind', { headers: { 'content-type': 'text/plain' } }, 415, 'use application/json'],
    ['no JSON', { body: '{' }, 400, '-32700'],
    ['an empty batch', { body: '[]' }, 400, '-32600'],
    ['a number', { body: '5' }, 400, '-32600'],
    ['no method', { body: '{"id":1}' }, 400, '-32600'],
    ['params that are no list', { body: '{"id":1,"method":"eth_chainId","params":{}}' }, 400, '-32600'],
  ])('%s', async (_, init, status, says) => {
    const answer = await post(createMockNode({ url }), url, init)
    expect(answer?.status).toBe(status)
    expect(answer?.body).toContain(says)
  })

  test('in a batch is refused alone', async () => {
    const answer = await post(createMockNode({ url }), url, { body: `[${call},5]` })
    expect(JSON.parse(answer!.body)).toMatchObject([
      { id: 7, result: '0x7a69' },
      { id: null, error: { code: -32_600 } },
    ])
  })

  test('of too many calls is refused, with the number', async () => {
    const node = createMockNode({ url, limits: { maxBatch: 2 } })
    const answer = await post(node, url, { body: `[${call},${call},${call}]` })
    expect(answer).toMatchObject({ status: 413 })
    expect(answer?.body).toContain('Batch too large: 3 > 2')
    for (const [personality, says] of [
      ['alchemy', 'at most 2 requests'],
      ['drpc', 'more than 2 requests'],
    ] as const) {
      node.personality = personality
      expect((await post(node, url, { body: `[${call},${call},${call}]` }))?.body).toContain(says)
    }
  })
})

test('an unknown method is answered -32601, and told once in the console', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const url = 'https://node.example/rpc'
  const node = createMockNode({ url })
  const body = (method: string): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: ['a'] })
  for (let time = 0; time < 3; time++) {
    expect((await post(node, url, { body: body('my_score') }))?.body).toContain('the method my_score does not exist')
  }
  expect(warn.mock.calls).toEqual([[expect.stringContaining(`node.onMethod('my_score'`)]])
  for (const inherited of ['toString', 'constructor', '__proto__']) {
    expect((await post(node, url, { body: body(inherited) }))?.body).toContain('-32601')
  }
  node.onMethod('my_score', ([who]) => `${String(who)}!`)
  expect((await post(node, url, { body: body('my_score') }))?.body).toContain('"result":"a!"')
  node.onMethod('my_later', async () => ({ n: 1 }))
  expect((await post(node, url, { body: body('my_later') }))?.body).toContain('"result":{"n":1}')
  node.onMethod('my_error', () => {
    throw Object.assign(new Error('no score'), { code: -32_050, data: [1] })
  })
  expect(JSON.parse((await post(node, url, { body: body('my_error') }))!.body)).toMatchObject({
    error: { code: -32_050, message: 'no score', data: [1] },
  })
  warn.mockRestore()
})

test('what it was asked is remembered, and no key with it', async () => {
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

test('what hangs breaks off when the node is healed', async () => {
  const url = 'https://node.example/rpc'
  const node = serve({ url })
  const client = openClient('fetch', { url, retry: false })
  node.fail('hang', { times: Infinity })
  const kind = kindOf(client, 'eth_chainId')
  await vi.waitFor(() => expect(node.calls()).toMatchObject([{ outcome: 'fault', fault: 'hang' }]), { timeout: 30_000 })
  node.heal()
  expect(await kind).toBe('network')
  expect(await client.request('eth_chainId')).toBe('0x7a69')
  client.close()
})

describe('a fault', () => {
  const url = 'https://node.example/rpc'
  const status = async (node: MockNode, method = 'eth_chainId'): Promise<number | undefined> =>
    (await post(node, url, { body: JSON.stringify({ id: 1, method, params: [] }) }))?.status

  test('comes as often as it should, after as many calls as it should, at its methods alone', async () => {
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

  test('is taken back by what it gave, and by heal', async () => {
    const node = createMockNode({ url })
    const takeBack = node.fail('unavailable')
    takeBack()
    expect(await status(node)).toBe(200)
    node.fail('unavailable', { times: Infinity })
    expect([await status(node), await status(node)]).toEqual([503, 503])
    node.heal()
    expect(await status(node)).toBe(200)
  })

  test('says how long to wait, as it is told to', async () => {
    const node = createMockNode({ url, personality: 'alchemy' })
    node.fail('throttled', { retryAfterMs: 1_500 })
    const response = await getResponse(node.handlers, new Request(url, { method: 'POST', headers, body: call }))
    expect([response?.status, response?.headers.get('retry-after')]).toEqual([429, '2'])
    node.fail('throttled')
    const without = await getResponse(node.handlers, new Request(url, { method: 'POST', headers, body: call }))
    expect([without?.status, without?.headers.get('retry-after')]).toEqual([429, null])
  })

  test('takes a message and data of its own', async () => {
    const node = createMockNode({ url })
    node.fail('revert', { message: 'execution reverted: no', data: '0x1234' })
    const answer = await post(node, url, { body: '{"id":1,"method":"eth_call","params":[{}]}' })
    expect(JSON.parse(answer!.body)).toMatchObject({
      error: { code: 3, message: 'execution reverted: no', data: '0x1234' },
    })
  })

  test.each<[unknown, object, string]>([
    ['aborted', {}, 'abort the signal of the call'],
    ['nothing', {}, 'and not nothing'],
    [{ body: '' }, {}, 'has a status'],
    ['auth', { times: 0 }, 'times must be'],
    ['auth', { after: -1 }, 'after must be'],
    ['auth', { personality: 'nobody' }, 'personality must be one of'],
    ['auth', { personality: 'toString' }, 'personality must be one of'],
    ['toString', {}, 'fail takes a kind of failure'],
  ])('of %j with %j is refused', (kind, options, message) => {
    expect(() => createMockNode({ url }).fail(kind as never, options)).toThrow(message)
  })
})

test('a write that is lost stays unconfirmed', async () => {
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
  const client = openClient('fetch', { url, keccak256, retry: false } as never)
  node.fail('unconfirmed')
  expect(await kindOf(client, 'eth_sendRawTransaction', [raw])).toBe('unconfirmed')
  node.heal()
  expect(await client.request('eth_sendRawTransaction', [raw])).toBe(keccak256(raw))
  client.close()
})
