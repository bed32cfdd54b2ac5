import { batch } from '@keyrail/core'
import type { FailureKind } from '@keyrail/core'
import { failures } from '@keyrail/vectors'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { providers } from '../src/faults/providers.ts'
import { createMockNode } from '../src/index.ts'
import type { FaultKind, ProviderName } from '../src/index.ts'
import { clientNames, getKind, openClient } from './clients.ts'
import type { OpenedClient } from './clients.ts'

const address = { baseUrl: 'https://node.example/testnet', apiKey: `kr_a${'k3Y'.repeat(13)}`, chainId: 11_155_111 }
const node = createMockNode(address)
const server = setupServer(...node.handlers)
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
afterAll(() => server.close())
afterEach(() => node.reset())

const to = `0x${'ab'.repeat(20)}`
const raw = `0x02${'c0'}`
/** Params with which each method succeeds without a fault. */
const defaultParams: Readonly<Record<string, readonly unknown[]>> = {
  eth_getLogs: [{}],
  eth_call: [{ to }],
  eth_estimateGas: [{ to }],
  eth_getBlockByNumber: ['latest', false],
  eth_sendRawTransaction: [raw],
}

const providerNames = Object.keys(providers) as ProviderName[]
const providerErrors = providerNames.flatMap((provider) =>
  Object.entries(providers[provider].errors).flatMap(([kind, responses]) =>
    responses.map((response, index) => ({ provider, kind: kind as FaultKind, response, index })),
  ),
)
const oneOfEachKind = providerErrors.filter(
  ({ kind }, at) => providerErrors.findIndex((one) => one.kind === kind) === at,
)
/** A method to which a fault of a kind applies. */
const methodFor = (kind: string): string =>
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
  // A client stops calling for a while after a quota error, so each test has its own.
  beforeEach(() => {
    client = openClient(name, { ...address, retry: false, timeoutMs: 60_000 })
  })
  afterEach(() => client.close())

  // The transport classifies the failure for every library: fetch checks every wording, the others one of each kind.
  const checked = name === 'fetch' ? providerErrors : oneOfEachKind
  test.each(checked.filter(({ kind }) => kind !== 'batchTooLarge'))(
    '$kind as worded by $provider, $index, is classified as $kind',
    async ({ provider, kind, response }) => {
      const method = methodFor(kind)
      node.fail(kind, { provider, status: response.status, method })
      expect(await getKind(client, method, defaultParams[method])).toBe(kind)
      expect(node.calls().at(-1)).toMatchObject({ method, outcome: 'fault', fault: kind })
    },
  )

  test.each<[FaultKind, FailureKind]>([
    ['network', 'network'],
    ['badResponse', 'badResponse'],
    ['truncated', 'badResponse'],
    ['empty', 'badResponse'],
    ['htmlPage', 'unavailable'],
    ['wrongId', 'badResponse'],
    ['nullId', 'badResponse'],
  ])('%s is %s, and the next call succeeds', async (kind, expected) => {
    node.fail(kind)
    expect(await getKind(client, 'eth_blockNumber')).toBe(expected)
    expect(await client.request('eth_blockNumber')).toBe('0x0')
  })

  test('a single response without an id belongs to its request', async () => {
    node.fail('missingId')
    expect(await client.request('eth_blockNumber')).toBe('0x0')
  })

  test('a missing response is a timeout', async () => {
    const impatient = openClient(name, { ...address, retry: false, timeoutMs: 100 })
    node.fail('hang')
    expect(await getKind(impatient, 'eth_blockNumber')).toBe('timeout')
    impatient.close()
    node.fail('slow', { delayMs: 10 })
    expect(await client.request('eth_blockNumber')).toBe('0x0')
  })

  test('another chain id is wrongNetwork', async () => {
    node.fail('wrongChain')
    expect(await getKind(client, 'eth_chainId')).toBe('wrongNetwork')
    expect(BigInt((await client.request('eth_chainId')) as string)).toBe(11_155_111n)
  })

  test('laggingHead applies to the given number of calls', async () => {
    node.mine(10)
    node.fail('laggingHead', { blocks: 4, times: 2 })
    expect(await client.request('eth_blockNumber')).toBe('0x6')
    expect(await client.request('eth_getBlockByNumber', ['0x8', false])).toBeNull()
    expect(await client.request('eth_blockNumber')).toBe('0xa')
  })

  test('throttled calls are retried after retryAfterMs', async () => {
    const retrying = openClient(name, { ...address, retry: { retries: 3, baseMs: 1 } })
    node.fail('throttled', { times: 2, retryAfterMs: 30 })
    const started = performance.now()
    expect(await retrying.request('eth_blockNumber')).toBe('0x0')
    expect(performance.now() - started).toBeGreaterThan(55)
    expect(node.calls('eth_blockNumber').map(({ outcome }) => outcome)).toEqual(['fault', 'fault', 'result'])
    retrying.close()
  })

  test('quota errors are not retried', async () => {
    const retrying = openClient(name, { ...address, retry: { retries: 3, baseMs: 1 } })
    node.fail('quota', { times: Infinity })
    expect(await getKind(retrying, 'eth_blockNumber')).toBe('quota')
    expect(node.calls()).toHaveLength(1)
    retrying.close()
    node.clearFaults()
    expect(await client.request('eth_blockNumber')).toBe('0x0')
  })
})

test('every response of the vectors is classified as the vectors say', async () => {
  const cases = failures.filter(({ request, appliesTo }) => !request.batch && appliesTo.includes('ts'))
  expect(cases.length).toBeGreaterThan(300)
  const wrong: string[] = []
  for (const { name: called, request, response, expect: expected } of cases) {
    const own = openClient('fetch', { ...address, retry: false })
    node.fail(response)
    const kind = await getKind(own, request.method, defaultParams[request.method])
    if (kind !== expected.kind) wrong.push(`${called}: ${kind}, not ${expected.kind}`)
    own.close()
  }
  expect(wrong).toEqual([])
  expect(node.calls().every(({ outcome }) => outcome === 'fault')).toBe(true)
}, 120_000)

describe.each(clientNames)('in a batch, through %s', (name) => {
  const requestAll = async (client: OpenedClient, methods: readonly string[]): Promise<readonly unknown[]> => {
    const responses = await Promise.all(methods.map((method) => client.request(method).then(String, () => undefined)))
    // Hooks run in a microtask.
    await new Promise((resolve) => setImmediate(resolve))
    return responses.map((response, at) => response ?? client.kindOfMethod(methods[at] as string))
  }
  const withBatch = async <T>(use: (client: OpenedClient) => Promise<T>): Promise<T> => {
    const client = openClient(name, { ...address, retry: false, batch: batch() })
    try {
      return await use(client)
    } finally {
      client.close()
    }
  }
  const three = ['eth_blockNumber', 'eth_chainId', 'net_version']
  const right = ['0x0', '0xaa36a7', '11155111']

  test.each<[FaultKind, string, readonly string[]]>([
    ['shuffled', 'eth_chainId', right],
    ['missingResponse', 'eth_chainId', ['0x0', 'badResponse', '11155111']],
    ['duplicateId', 'eth_chainId', ['0x0', 'badResponse', 'badResponse']],
    ['stringId', 'eth_chainId', ['0x0', '0xaa36a7', '11155111']],
    ['throttled', 'eth_chainId', ['0x0', 'throttled', '11155111']],
    ['truncated', 'eth_chainId', ['badResponse', 'badResponse', 'badResponse']],
    ['auth', 'eth_chainId', ['auth', 'auth', 'auth']],
    ['network', 'eth_chainId', ['network', 'network', 'network']],
  ])('%s affects the expected calls', async (kind, method, expected) => {
    node.fail(kind, { method })
    expect(await withBatch((client) => requestAll(client, three))).toEqual(expected)
    expect(node.calls().every(({ batch }) => batch)).toBe(true)
  })

  test.each(providerNames)('a batch that is too large for %s is split, and each call succeeds', async (provider) => {
    node.provider = provider
    node.fail('batchTooLarge')
    expect(await withBatch((client) => requestAll(client, three))).toEqual(right)
  })

  test('drpc accepts three calls in a batch, and alchemy responds in reverse order', async () => {
    node.provider = 'drpc'
    expect(await withBatch((client) => requestAll(client, [...three, 'eth_gasPrice']))).toEqual([
      ...right,
      '0x6fc23ac0',
    ])
    node.provider = 'alchemy'
    const response = await fetch(`${address.baseUrl}/v2/${address.apiKey}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_blockNumber' }))),
    })
    expect(await response.json()).toEqual([2, 1].map((id) => ({ jsonrpc: '2.0', id, result: '0x0' })))
  })
})

test('each error response is worded as in the vectors', () => {
  const known = new Map<string, Set<string>>()
  const shape = (message: string): string => message.replaceAll(/eth_foo|trace_\w+|debug_\w+|\$METHOD/g, 'METHOD')
  for (const {
    provider,
    response,
    expect: { kind },
  } of failures) {
    const items = (Array.isArray(response.body) ? response.body : [response.body]) as {
      readonly error?: { code: number; message: string }
    }[]
    for (const item of items) {
      const { error } = Object(item) as { error?: { code: number; message: string } }
      const wording =
        error?.message === undefined
          ? typeof item === 'string'
            ? item
            : JSON.stringify(item)
          : `${error.code} ${shape(error.message)}`
      for (const name of [provider, 'node'])
        known.set(`${name} ${kind}`, (known.get(`${name} ${kind}`) ?? new Set()).add(wording))
    }
  }
  for (const { provider, kind, response } of providerErrors) {
    const wording =
      response.error === undefined ? response.text : `${response.error.code} ${shape(response.error.message)}`
    const own = known.get(`${provider} ${kind}`) ?? new Set()
    // Plain text may also come from a proxy in front of any provider.
    const shared = known.get(`node ${kind}`) ?? new Set()
    expect(response.rejectsWholeRequest && response.text !== undefined ? shared : own, `${provider} ${kind}`).toContain(
      wording,
    )
  }
})
