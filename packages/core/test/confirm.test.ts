import { describe, expect, test } from 'vitest'
import { confirm, createTransport, failover } from '../src/index.ts'
import type { ConfirmOptions } from '../src/index.ts'
import { getFailure } from './getFailure.ts'
import { memoryFetch } from './memoryFetch.ts'

type Behaviour = (method: string, params: unknown) => object

const says =
  (result: unknown): Behaviour =>
  () => ({ result })
const fails =
  (code: number, message: string, data?: unknown): Behaviour =>
  () => ({ error: { code, message, data } })

/** Too deep for a recursive function, and for JSON.stringify. */
const deep = '['.repeat(50_000) + ']'.repeat(50_000)

interface Setup extends ConfirmOptions {
  readonly heads?: readonly string[]
  readonly finalized?: readonly string[]
  readonly groups?: readonly string[]
}

/** Creates a transport with endpoints at `a.example`, `b.example` …, with the heads 0x64, 0x62, 0x64 … */
const create = (behaviours: readonly Behaviour[], setup: Setup = {}) => {
  const { heads = ['0x64', '0x62'], finalized = ['0x20', '0x24'], groups = [], ...options } = setup
  const asked: (readonly [host: string, method: string, params: unknown])[] = []
  const { fetch } = memoryFetch(({ url, rpcCalls }) => {
    const [call] = rpcCalls
    const { id, method, params } = call as { id: number; method: string; params: readonly unknown[] }
    const host = new URL(url).host.charAt(0)
    const at = 'abcd'.indexOf(host)
    const body = (): object => {
      if (method === 'eth_blockNumber') return { result: heads[at] ?? '0x64' }
      if (method === 'eth_getBlockByNumber' && params[0] === 'finalized')
        return { result: { number: finalized[at] ?? '0x24' } }
      asked.push([host, method, params])
      return behaviours[at]?.(method, params) ?? {}
    }
    const text = JSON.stringify({ jsonrpc: '2.0', id, ...body() })
    return { text: text.replace('"DEEP"', deep) }
  })
  const transport = createTransport({
    endpoints: failover(
      behaviours.map((_, at) => ({ url: `https://${'abcd'.charAt(at)}.example`, group: groups[at] })),
      { confirm: confirm(options) },
    ),
    fetch,
    retry: false,
  })
  return { ...transport, asked, getHosts: () => asked.map(([host]) => host).join('') }
}

const balance = { method: 'eth_getBalance', params: ['0xab', '0x10'] }
const call = { method: 'eth_call', params: [{ to: '0xab' }, '0x10'] }

describe('endpoints agree', () => {
  test.each([
    ['on the same result', says('0x1'), says('0x1')],
    ['on a quantity with zeros before it', says('0x1'), says('0x01')],
  ])('%s', async (_, one, other) => {
    const { request, getHosts } = create([one, other, says('0x3')])
    expect(BigInt((await request(balance)) as string)).toBe(1n)
    expect(getHosts()).toBe('ab')
  })

  test('on a revert in other words', async () => {
    const { request, getHosts } = create([
      fails(3, 'execution reverted: one', '0x08C379A0'),
      fails(-32000, 'VM error: revert', 'Reverted 0x08c379a0'),
      says('0x1'),
    ])
    expect(await getFailure(request(call))).toMatchObject({ kind: 'revert' })
    expect(getHosts()).toBe('ab')
  })
})

describe('endpoints disagree', () => {
  test.each([
    ['and the third decides', [says('0x1'), says('0x2'), says('0x2')], '0x2'],
    ['and the third decides on a revert', [says('0x1'), fails(3, 'execution reverted'), says('0x1')], '0x1'],
  ])('%s', async (_, behaviours, result) => {
    const { request, getHosts } = create(behaviours)
    expect(await request(call)).toBe(result)
    expect(getHosts()).toBe('abc')
  })

  test.each([
    ['all three', [says('0x1'), says('0x2'), says('0x3'), says('0x3')], 'abc'],
    ['and there is no third', [says('0x1'), says('0x2')], 'ab'],
  ])('%s', async (_, behaviours, hosts) => {
    const { request, getHosts } = create(behaviours)
    expect(await getFailure(request(call))).toMatchObject({
      kind: 'unavailable',
      retryable: true,
      message: expect.stringContaining('the endpoints disagree on the result: 2 must agree') as string,
    })
    expect(getHosts()).toBe(hosts)
  })
})

describe('an endpoint has no vote', () => {
  test.each([
    ['that lacks the state', fails(-32000, 'missing trie node 12 (path )')],
    ['that lacks the block', fails(-32000, 'header not found')],
    ['that is rate-limited', fails(-32005, 'rate limit exceeded')],
  ])('%s', async (_, behaviour) => {
    const { request, getHosts } = create([behaviour, says('0x1'), says('0x1')])
    expect(await request(call)).toBe('0x1')
    expect(getHosts()).toBe('abc')
  })

  test('whose result is nested too deep to compare', async () => {
    const { request, getHosts } = create([says('DEEP'), says('0x1'), says('0x1')])
    expect(await request(call)).toBe('0x1')
    expect(getHosts()).toBe('abc')
  })

  test('of a group that has one', async () => {
    const { request, getHosts } = create([says('0x1'), says('0x2'), says('0x1')], { groups: ['x', 'x', 'y'] })
    expect(await request(call)).toBe('0x1')
    expect(getHosts()).toBe('ac')
  })

  test('so one response of two is not confirmed, and if none responds the call fails as ever', async () => {
    const lacks = fails(-32000, 'missing trie node 12 (path )')
    const one = create([lacks, says('0x1')])
    expect(await getFailure(one.request(call))).toMatchObject({
      message: expect.stringContaining('only 1 of 2 endpoints responded') as string,
    })
    const none = create([lacks, lacks])
    expect(await getFailure(none.request(call))).toMatchObject({ kind: 'missingData' })
  })
})

describe('one block takes the place of', () => {
  test.each([
    ['latest', 'eth_getBalance', ['0xab', 'latest'], ['0xab', '0x62']],
    ['no block', 'eth_getBalance', ['0xab'], ['0xab', '0x62']],
    ['finalized', 'eth_getBalance', ['0xab', 'finalized'], ['0xab', '0x20']],
    ['the end of a range', 'eth_getLogs', [{ fromBlock: '0x1' }], [{ fromBlock: '0x1', toBlock: '0x62' }]],
  ])('%s', async (_, method, params, pinned) => {
    const { request, asked } = create([says('0x1'), says('0x1')])
    await request({ method, params })
    expect(asked).toEqual([
      ['a', method, pinned],
      ['b', method, pinned],
    ])
  })

  test('latest, but none before that of an earlier result', async () => {
    const heads = ['0x64', '0x64', '0x64']
    const { request, asked, getHosts } = create([says('0x1'), says('0x1'), says('0x1')], { heads })
    await request({ method: 'eth_getBalance', params: ['0xab'] })
    heads[0] = '0x50'
    heads[1] = '0x65'
    asked.splice(0)
    expect(await request({ method: 'eth_getBalance', params: ['0xac'] })).toBe('0x1')
    expect(getHosts()).toBe('bc')
    expect(asked.map(([, , params]) => params)).toEqual([
      ['0xac', '0x64'],
      ['0xac', '0x64'],
    ])
  })
})

test.each([
  ['latest', { heads: ['0x0', '0x0'] }],
  ['finalized', { finalized: ['0x0', '0x0'] }],
])('the first block of a chain takes the place of %s too', async (tag, setup) => {
  const { request, asked } = create([says('0x1'), says('0x1')], setup)
  expect(await request({ method: 'eth_getBalance', params: ['0xab', tag] })).toBe('0x1')
  expect(asked.map(([, , params]) => params)).toEqual([
    ['0xab', '0x0'],
    ['0xab', '0x0'],
  ])
})

test('other methods go to one endpoint', async () => {
  const { request, getHosts } = create([says('0x1'), says('0x1')])
  await request({ method: 'eth_gasPrice' })
  await request({ method: 'eth_sendRawTransaction', params: ['0x00'] })
  expect(getHosts()).toBe('aa')
  const only = create([says('0x1'), says('0x1')], { methods: ['eth_call'] })
  await only.request(balance)
  expect(only.getHosts()).toBe('a')
})

test('an abort stops all requests', async () => {
  const memory = memoryFetch(() => ({ headOnly: true }))
  const endpoints = failover([{ url: 'https://a.example' }, { url: 'https://b.example' }], { confirm: confirm() })
  const transport = createTransport({ endpoints, fetch: memory.fetch })
  const controller = new AbortController()
  const failure = transport.request(balance, { signal: controller.signal }).catch((error: unknown) => error)
  await expect.poll(() => memory.open).toBe(2)
  controller.abort()
  expect(await failure).toMatchObject({ name: 'AbortError' })
  await expect.poll(() => memory.open).toBe(0)
})

describe('is rejected with', () => {
  const two = [{ url: 'https://a.example' }, { url: 'https://b.example' }]
  test.each<[string, () => unknown, string]>([
    ['one node', () => confirm({ nodes: 1 }), 'nodes must be'],
    ['a write', () => confirm({ methods: ['eth_sendRawTransaction'] }), 'methods of confirm must be'],
    ['a read of the node', () => confirm({ methods: ['eth_gasPrice'] }), 'methods of confirm must be'],
    [
      'options in place of the feature',
      () => failover(two, { confirm: { nodes: 2 } as never }),
      'write confirm: confirm()',
    ],
    [
      'one endpoint',
      () => createTransport({ endpoints: failover(two.slice(1), { confirm: confirm() }) }),
      'confirm needs 2 endpoints of different hosts, and there are 1',
    ],
  ])('%s', (_, make, message) => {
    expect(make).toThrow(message)
  })
})
