import type { FailureKind } from '@keyrail/core'
import { failures } from '@keyrail/vectors'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dialects } from '../src/faults/dialects.ts'
import { createMockNode } from '../src/index.ts'
import type { FaultKind, Misbehaviour, Personality } from '../src/index.ts'
import { clientNames, kindOf, openClient } from './clients.ts'
import type { OpenedClient } from './clients.ts'

const address = { baseUrl: 'https://node.example/testnet', apiKey: `kr_a${'k3Y'.repeat(13)}`, chainId: 11_155_111 }
const node = createMockNode(address)
const server = setupServer(...node.handlers)
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
afterAll(() => server.close())
afterEach(() => node.reset())

const to = `0x${'ab'.repeat(20)}`
const raw = `0x02${'c0'}`
/** Params that a method is answered with where nothing fails. */
const usualParams: Readonly<Record<string, readonly unknown[]>> = {
  eth_getLogs: [{}],
  eth_call: [{ to }],
  eth_estimateGas: [{ to }],
  eth_getBlockByNumber: ['latest', false],
  eth_sendRawTransaction: [raw],
}

const personalities = Object.keys(dialects) as Personality[]
const worded = personalities.flatMap((personality) =>
  Object.entries(dialects[personality].answers).flatMap(([kind, answers]) =>
    answers.map((answer, index) => ({ personality, kind: kind as FaultKind, answer, index })),
  ),
)
const oneOfEachKind = worded.filter(({ kind }, at) => worded.findIndex((one) => one.kind === kind) === at)
/** Where a fault of a kind shows. */
const methodOf = (kind: string): string =>
  ({
    range: 'eth_getLogs',
    revert: 'eth_call',
    txKnown: 'eth_sendRawTransaction',
    txRejected: 'eth_sendRawTransaction',
    missingData: 'eth_call',
    lagging: 'eth_call',
    unknown: 'eth_call',
    timeout: 'eth_call',
  })[kind] ?? 'eth_blockNumber'

describe.each(clientNames)('through %s', (name) => {
  let client: OpenedClient
  // A client that met a quota asks no more for a while, so each test has its own.
  beforeEach(() => {
    client = openClient(name, { ...address, retry: false, timeoutMs: 60_000 })
  })
  afterEach(() => client.close())

  // The transport reads the response and names the failure, under every library alike: one library checks every wording, the others one of
  // each kind.
  const checked = name === 'fetch' ? worded : oneOfEachKind
  test.each(checked.filter(({ kind }) => kind !== 'batchTooLarge'))(
    '$kind in the words of $personality, $index, is $kind',
    async ({ personality, kind, answer }) => {
      const method = methodOf(kind)
      node.fail(kind, { personality, status: answer.status, method })
      expect(await kindOf(client, method, usualParams[method])).toBe(kind)
      expect(node.calls().at(-1)).toMatchObject({ method, outcome: 'fault', fault: kind })
    },
  )

  test.each<[Misbehaviour | FaultKind, FailureKind]>([
    ['network', 'network'],
    ['badResponse', 'badResponse'],
    ['truncated', 'badResponse'],
    ['empty', 'badResponse'],
    ['htmlPage', 'unavailable'],
    ['wrongId', 'badResponse'],
    ['stringId', 'badResponse'],
    ['nullId', 'badResponse'],
  ])('%s is %s, and the next call is answered', async (kind, expected) => {
    node.fail(kind)
    expect(await kindOf(client, 'eth_blockNumber')).toBe(expected)
    expect(await client.request('eth_blockNumber')).toBe('0x0')
  })

  test('a single response without an id is that of its request', async () => {
    node.fail('missingId')
    expect(await client.request('eth_blockNumber')).toBe('0x0')
  })

  test('an answer that never comes is a timeout', async () => {
    const hurried = openClient(name, { ...address, retry: false, timeoutMs: 100 })
    node.fail('hang')
    expect(await kindOf(hurried, 'eth_blockNumber')).toBe('timeout')
    hurried.close()
    node.fail('slow', { delayMs: 10 })
    expect(await client.request('eth_blockNumber')).toBe('0x0')
  })

  test('the id of another chain is the wrong network', async () => {
    node.fail('wrongChain')
    expect(await kindOf(client, 'eth_chainId')).toBe('wrongNetwork')
    expect(BigInt((await client.request('eth_chainId')) as string)).toBe(11_155_111n)
  })

  test('a head that lags is behind for as long as it should be', async () => {
    node.mine(10)
    node.fail('laggingHead', { blocks: 4, times: 2 })
    expect(await client.request('eth_blockNumber')).toBe('0x6')
    expect(await client.request('eth_getBlockByNumber', ['0x8', false])).toBeNull()
    expect(await client.request('eth_blockNumber')).toBe('0xa')
  })

  test('a throttle passes, and the call is made again after as long as was asked', async () => {
    const patient = openClient(name, { ...address, retry: { retries: 3, baseMs: 1 } })
    node.fail('throttled', { times: 2, retryAfterMs: 30 })
    const started = performance.now()
    expect(await patient.request('eth_blockNumber')).toBe('0x0')
    expect(performance.now() - started).toBeGreaterThan(55)
    expect(node.calls('eth_blockNumber').map(({ outcome }) => outcome)).toEqual(['fault', 'fault', 'result'])
    patient.close()
  })

  test('a quota does not, and is not asked again', async () => {
    const patient = openClient(name, { ...address, retry: { retries: 3, baseMs: 1 } })
    node.fail('quota', { times: Infinity })
    expect(await kindOf(patient, 'eth_blockNumber')).toBe('quota')
    expect(node.calls()).toHaveLength(1)
    patient.close()
    node.heal()
    expect(await client.request('eth_blockNumber')).toBe('0x0')
  })
})

test('answers word by word, every one of the vectors, are what the vectors say', async () => {
  const cases = failures.filter(({ request, appliesTo }) => !request.batch && appliesTo.includes('ts'))
  expect(cases.length).toBeGreaterThan(300)
  const wrong: string[] = []
  for (const { name: called, request, response: answer, expect: expected } of cases) {
    const own = openClient('fetch', { ...address, retry: false })
    node.fail(answer)
    const kind = await kindOf(own, request.method, usualParams[request.method])
    if (kind !== expected.kind) wrong.push(`${called}: ${kind}, not ${expected.kind}`)
    own.close()
  }
  expect(wrong).toEqual([])
  expect(node.calls().every(({ outcome }) => outcome === 'fault')).toBe(true)
}, 120_000)

describe.each(clientNames)('in a batch, through %s', (name) => {
  const ask = async (client: OpenedClient, methods: readonly string[]): Promise<readonly unknown[]> => {
    const answers = await Promise.all(methods.map((method) => client.request(method).then(String, () => undefined)))
    // Hooks are told in a microtask.
    await new Promise((resolve) => setImmediate(resolve))
    return answers.map((answer, at) => answer ?? client.kindOfMethod(methods[at] as string))
  }
  const withBatch = async <T>(use: (client: OpenedClient) => Promise<T>): Promise<T> => {
    const client = openClient(name, { ...address, retry: false, batch: true })
    try {
      return await use(client)
    } finally {
      client.close()
    }
  }
  const three = ['eth_blockNumber', 'eth_chainId', 'net_version']
  const right = ['0x0', '0xaa36a7', '11155111']

  test.each<[Misbehaviour | FaultKind, string, readonly string[]]>([
    ['shuffled', 'eth_chainId', right],
    ['missing', 'eth_chainId', ['0x0', 'badResponse', '11155111']],
    ['doubledId', 'eth_chainId', ['0x0', 'badResponse', 'badResponse']],
    ['stringId', 'eth_chainId', ['0x0', 'badResponse', '11155111']],
    ['throttled', 'eth_chainId', ['0x0', 'throttled', '11155111']],
    ['truncated', 'eth_chainId', ['badResponse', 'badResponse', 'badResponse']],
    ['auth', 'eth_chainId', ['auth', 'auth', 'auth']],
    ['network', 'eth_chainId', ['network', 'network', 'network']],
  ])('%s touches the calls that it should', async (kind, method, expected) => {
    node.fail(kind, { method })
    expect(await withBatch((client) => ask(client, three))).toEqual(expected)
    expect(node.calls().every(({ batch }) => batch)).toBe(true)
  })

  test.each(personalities)('a batch that is too large for %s is cut, and each call answered', async (personality) => {
    node.personality = personality
    node.fail('batchTooLarge')
    expect(await withBatch((client) => ask(client, three))).toEqual(right)
  })

  test('drpc takes three calls, and alchemy answers from the last to the first', async () => {
    node.personality = 'drpc'
    expect(await withBatch((client) => ask(client, [...three, 'eth_gasPrice']))).toEqual([...right, '0x6fc23ac0'])
    node.personality = 'alchemy'
    const response = await fetch(`${address.baseUrl}/v2/${address.apiKey}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_blockNumber' }))),
    })
    expect(await response.json()).toEqual([2, 1].map((id) => ({ jsonrpc: '2.0', id, result: '0x0' })))
  })
})

test('each dialect is worded as the vectors have it', () => {
  const known = new Map<string, Set<string>>()
  const shape = (message: string): string => message.replaceAll(/eth_foo|trace_\w+|debug_\w+|\$METHOD/g, 'METHOD')
  for (const {
    provider,
    response: answer,
    expect: { kind },
  } of failures) {
    const items = (Array.isArray(answer.body) ? answer.body : [answer.body]) as {
      readonly error?: { code: number; message: string }
    }[]
    for (const item of items) {
      const { error } = Object(item) as { error?: { code: number; message: string } }
      const words =
        error?.message === undefined
          ? typeof item === 'string'
            ? item
            : JSON.stringify(item)
          : `${error.code} ${shape(error.message)}`
      for (const whose of [provider, 'node'])
        known.set(`${whose} ${kind}`, (known.get(`${whose} ${kind}`) ?? new Set()).add(words))
    }
  }
  for (const { personality, kind, answer } of worded) {
    const words = answer.error === undefined ? answer.text : `${answer.error.code} ${shape(answer.error.message)}`
    const own = known.get(`${personality} ${kind}`) ?? new Set()
    // A proxy in front of any provider may say it as well.
    const anybody = known.get(`node ${kind}`) ?? new Set()
    expect(answer.whole && answer.text !== undefined ? anybody : own, `${personality} ${kind}`).toContain(words)
  }
})
