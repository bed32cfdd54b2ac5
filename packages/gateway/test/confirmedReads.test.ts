import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createApiKey, getApiKeyUrl } from '../src/index.ts'
import { confirmedCases, fails, hangs, says } from './confirmedCases.ts'
import type { ConfirmedCase } from './confirmedCases.ts'
import { controlTime, until } from './controlTime.ts'
import type { KeyRecord } from '../src/auth/key/keyStore.ts'
import type { TestOptions } from './createTestGateway.ts'
import { startFakeUpstream } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { chainIds, post, startGateway } from './startGateway.ts'

type NetworkInput = TestOptions['networks'][string]

const methods = [
  'eth_call',
  'eth_getBalance',
  'eth_getLogs',
  'eth_getTransactionReceipt',
  'eth_getTransactionByHash',
  'eth_getBlockByNumber',
]
const upstreamTimeoutMs = 10_000

/** Starts a gateway in front of nodes named a, b, c … */
const start = async (
  behaviours: readonly Behaviour[],
  network: Partial<NetworkInput> = { confirm: [{ methods }] },
  groups: readonly string[] = [],
  { heads = [100, 98], own }: { readonly heads?: readonly number[]; readonly own?: KeyRecord['confirm'] } = {},
) => {
  const nodes: FakeUpstream[] = []
  for (const [index, behave] of behaviours.entries()) {
    const node = await startFakeUpstream(chainIds.testnet, '/v2/a-secret-key-0123456789')
    onTestFinished(node.stop)
    Object.assign(node, { behave, head: heads[index] ?? 100, finalized: index === 0 ? 32 : 36 })
    nodes.push(node)
  }
  const upstreams = nodes.map(({ url }, index) => {
    const group = groups[index]
    return { url, name: 'abcd'[index] ?? '', ...(group !== undefined && { group }) }
  })
  const started = await startGateway(
    { testnet: [] },
    {
      networks: { testnet: { chainId: chainIds.testnet, upstreams, ...network } },
      bounds: { upstreamTimeoutMs },
    },
  )
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  const key = createApiKey('testnet')
  started.keys.add(key, {
    id: 'key-c',
    kind: 'apiKey',
    networks: ['testnet'],
    status: 'active',
    ...(own && { confirm: own }),
  })
  const rpcUrl = getApiKeyUrl(started.url, 'testnet', key)
  let id = 0
  const send = (method: string, params: string, headers: Record<string, string> = {}) =>
    post(rpcUrl, `{"jsonrpc":"2.0","id":${(id += 1)},"method":"${method}","params":${params}}`, {
      headers: { 'content-type': 'application/json', ...headers },
    })
  return { ...started, nodes, rpcUrl, send, takeCalls: () => nodes.map(({ bodies }) => bodies.splice(0).length) }
}

/** What a caller and the nodes see of a case: its answer and its calls if they are as expected, and else what they are. */
const observe = async (one: ConfirmedCase): Promise<Pick<ConfirmedCase, 'answer' | 'calls' | 'asked'>> => {
  const { method, params, nodes: behaviours, rule, groups, answer, asked = params } = one
  const { nodes, send } = await start(behaviours, { confirm: [{ methods, ...rule }] }, groups)
  const { text } = await send(method, params)
  const isExpected =
    'error' in answer
      ? new RegExp(`"error":.*${answer.error}`).test(text)
      : answer.results.some((result) => text === `{"jsonrpc":"2.0","id":1,"result":${result}}`)
  const bodies = nodes.flatMap((node) => node.bodies)
  const other = bodies.find((body) => !removeSpaces(body).includes(`"params":${removeSpaces(asked)}`))
  return {
    answer: isExpected ? answer : { error: text },
    calls: nodes.map((node) => node.bodies.length),
    asked: other ?? asked,
  }
}

const removeSpaces = (text: string): string => text.replaceAll(' ', '')

describe.each(Object.entries(confirmedCases))('%s', (_, cases: readonly ConfirmedCase[]) => {
  test.each(cases)('$name', async (one) => {
    const { answer, calls, params, asked = params } = one
    expect(await observe(one)).toEqual({ answer, calls, asked })
  })
})

test('there are at least 40 cases', () => {
  expect(Object.values(confirmedCases).flat().length).toBeGreaterThanOrEqual(40)
})

const balance = ['eth_getBalance', '["0x00","latest"]'] as const
const atBlock = ['eth_getBalance', '["0x00","0x40"]'] as const

describe('a node that does not respond', () => {
  test('is replaced after half of the time', async () => {
    const advance = controlTime()
    onTestFinished(() => void vi.useRealTimers())
    const { nodes, send, takeCalls } = await start([hangs, says('"0x1"'), says('"0x1"')])
    const sent = send(...atBlock)
    await until(() => nodes.slice(0, 2).every(({ bodies }) => bodies.length === 1))
    advance(upstreamTimeoutMs / 2)
    expect((await sent).text).toContain('"0x1"')
    expect(takeCalls()).toEqual([1, 1, 1])
  })

  test('leaves too few if there is no other', async () => {
    const advance = controlTime()
    onTestFinished(() => void vi.useRealTimers())
    const { nodes, gateway, send } = await start([hangs, says('"0x1"')])
    const sent = send(...atBlock)
    await until(() => nodes.every(({ bodies }) => bodies.length === 1))
    await until(() => gateway.upstreams()[1]?.outcomes.get('result') === 1)
    advance(upstreamTimeoutMs)
    expect(JSON.parse((await sent).text)).toMatchObject({
      error: { data: { reason: 'no_upstream', nodes: 2, available: 1 } },
    })
  })
})

test('the response is the first one, unchanged, and says by how many nodes it is confirmed and at which block', async () => {
  const { nodes, gateway, send } = await start([says('"0x0F"'), hangs])
  const [, second] = nodes as [FakeUpstream, FakeUpstream]
  let respond = (): void => {}
  second.behave = (call, response) => {
    respond = () => response.end(says('"0xf"')(call, response))
    return undefined
  }
  const sent = send(...balance)
  await until(() => gateway.upstreams()[0]?.outcomes.get('result') === 1 && second.bodies.length === 1)
  respond()
  const { headers, text } = await sent
  expect(text).toContain('"result":"0x0F"')
  expect([headers.get('x-keyrail-confirm'), headers.get('x-keyrail-block')]).toEqual(['2', '98'])
})

describe('a block that the key’s callers have seen', () => {
  test('excludes a node that is behind it', async () => {
    const { nodes, send, takeCalls } = await start([says('"0x64"'), says('"0x1"'), says('"0x1"')])
    expect((await send('eth_blockNumber', '[]')).text).toContain('"0x64"')
    takeCalls()
    const [first] = nodes as [FakeUpstream]
    first.behave = says('"0x1"')
    const { headers } = await send(...balance)
    expect(headers.get('x-keyrail-block')).toBe('100')
    expect(takeCalls()).toEqual([1, 0, 1])
  })

  test('is read from a node that has it by now', async () => {
    const { nodes, send, takeCalls } = await start([says('"0x64"'), says('"0x1"')])
    await send('eth_blockNumber', '[]')
    takeCalls()
    const [first, second] = nodes as [FakeUpstream, FakeUpstream]
    first.behave = says('"0x1"')
    expect((await send(...balance)).text).toContain('no_upstream')
    expect(takeCalls()).toEqual([0, 0])
    second.head = 101
    const { headers } = await send(...balance)
    expect(headers.get('x-keyrail-block')).toBe('100')
    expect(takeCalls()).toEqual([1, 1])
  })

  test('is also needed of the node that decides, which may have it by now', async () => {
    const heads = [100, 100, 98]
    const { nodes, send, takeCalls } = await start([says('"0x1"'), says('"0x2"'), says('"0x2"')], undefined, [], {
      heads,
    })
    const third = nodes[2] as FakeUpstream
    expect((await send(...balance)).text).toContain('nodes_disagree')
    expect(takeCalls()).toEqual([1, 1, 0])
    third.head = 100
    const { headers, text } = await send(...balance)
    expect(text).toContain('"0x2"')
    expect(headers.get('x-keyrail-block')).toBe('100')
    expect(takeCalls()).toEqual([1, 1, 1])
  })

  test('is not below the finalized block that they have seen', async () => {
    const { nodes, send } = await start([says('{"number":"0x24"}'), says('{"number":"0x24"}')])
    const [first, second] = nodes as [FakeUpstream, FakeUpstream]
    first.finalized = 36
    const finalized = ['eth_getBlockByNumber', '["finalized",false]'] as const
    expect((await send(...finalized)).headers.get('x-keyrail-block')).toBe('36')
    second.finalized = 32
    expect((await send(...finalized)).headers.get('x-keyrail-block')).toBe('36')
  })
})

test('a node that is outvoted three times in five minutes is ranked lower for ten', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { nodes, gateway, entries, send, takeCalls } = await start([says('"0x2"'), says('"0x1"'), says('"0x1"')])
  for (let times = 0; times < 3; times += 1) await send(...atBlock)
  expect(takeCalls()).toEqual([3, 3, 3])
  expect(gateway.upstreams().map(({ disputes }) => disputes)).toEqual([3, 0, 0])
  expect(entries).toContainEqual(expect.objectContaining({ event: 'upstream', upstream: 'a', state: 'outvoted' }))
  await send(...atBlock)
  expect(takeCalls()).toEqual([0, 1, 1])
  expect(gateway.load().confirmations).toEqual([['testnet', { agreed: 1, outvoted: 3, disagreed: 0, few: 0 }]])
  vi.advanceTimersByTime(600_000)
  for (const node of nodes) node.behave = says('"0x1"')
  await send(...atBlock)
  expect(takeCalls()).toEqual([1, 1, 0])
})

test('a node that does not have a receipt yet, or has it first, is not counted', async () => {
  const { nodes, gateway, send } = await start([says('null'), says('null'), says('null')])
  const receipt = says(`{"transactionHash":"0x${'1'.repeat(64)}"}`)
  const read = () => send('eth_getTransactionReceipt', `["0x${'1'.repeat(64)}"]`)
  for (const having of [[0], [1], [0, 2], [1, 2]]) {
    for (const [index, node] of nodes.entries()) node.behave = having.includes(index) ? receipt : says('null')
    await read()
  }
  expect(gateway.upstreams().map(({ disputes }) => disputes)).toEqual([0, 0, 0])
  expect(gateway.load().confirmations).toEqual([['testnet', { agreed: 0, outvoted: 4, disagreed: 0, few: 0 }]])
})

test('the log says what the nodes said, without their secrets, and the caller gets only that they disagree', async () => {
  const { nodes, entries, send } = await start([
    says('"0x1"'),
    fails(3, 'execution reverted at /v2/a-secret-key-0123456789'),
  ])
  const { status, text } = await send(...balance)
  expect(status).toBe(502)
  expect(JSON.parse(text)).toMatchObject({
    error: { code: -32603, data: { reason: 'nodes_disagree', nodes: 2, block: 98 } },
  })
  expect(entries.filter(({ event }) => event === 'dispute')).toEqual([
    {
      event: 'dispute',
      network: 'testnet',
      method: 'eth_getBalance',
      block: 98,
      outcome: 'disagreed',
      said: expect.arrayContaining([
        { upstreams: ['a'], response: '"0x1"' },
        { upstreams: ['b'], response: expect.stringContaining('execution reverted') as string },
      ]) as unknown,
      count: 1,
    },
  ])
  expect(JSON.stringify(entries)).not.toContain('secret-key')
  expect(text).not.toContain(new URL(nodes[0]?.url ?? '').port)
})

const same = [says('"0x1"'), says('"0x1"'), says('"0x1"')]
const ask = (nodes: string) => ({ 'x-keyrail-confirm': nodes })
const byCallers = { confirmByCallers: true }
/** Starts a gateway for a key with settings of its own. */
const startFor = (own: KeyRecord['confirm'], network: Partial<NetworkInput> = byCallers) =>
  start(same, network, [], { own })
const confirmedBy = ({ headers }: { readonly headers: Headers }) => headers.get('x-keyrail-confirm')

describe('the header X-Keyrail-Confirm', () => {
  const mayAsk = { confirmNodes: 0, confirmHeader: true }

  test('confirms a single call', async () => {
    const { send, takeCalls } = await startFor(mayAsk)
    expect(confirmedBy(await send(...balance))).toBeNull()
    expect(takeCalls()).toEqual([1, 0, 0])
    expect(confirmedBy(await send(...balance, ask('2')))).toBe('2')
    expect(takeCalls()).toEqual([1, 1, 0])
  })

  test('asks for more than the network or the key requires, and not for less', async () => {
    const network = await startFor(mayAsk, { ...byCallers, confirm: [{ methods, nodes: 3 }] })
    expect(confirmedBy(await network.send(...balance, ask('2')))).toBe('3')
    const key = await startFor({ ...mayAsk, confirmNodes: 2 }, { ...byCallers, confirm: [{ methods }] })
    expect(confirmedBy(await key.send(...balance, ask('3')))).toBe('3')
    const more = await startFor({ ...mayAsk, confirmNodes: 3 })
    expect(confirmedBy(await more.send(...balance, ask('2')))).toBe('3')
  })

  test('is an error if it cannot be respected', async () => {
    const { send, takeCalls } = await startFor(mayAsk)
    for (const value of ['1', '11', 'two'])
      expect(JSON.parse((await send(...balance, ask(value))).text)).toMatchObject({ error: { code: -32600 } })
    const off = await startFor(mayAsk, {})
    expect((await off.send(...balance, ask('2'))).text).toContain('is not enabled for this network')
    for (const own of [undefined, { confirmNodes: 2, confirmHeader: false }]) {
      const notAllowed = await startFor(own)
      expect((await notAllowed.send(...balance, ask('2'))).text).toContain('is not enabled for this key')
      expect(notAllowed.takeCalls()).toEqual([0, 0, 0])
    }
    expect([takeCalls(), off.takeCalls()]).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ])
  })

  test('leaves calls as they are that nodes cannot agree on', async () => {
    const { send, takeCalls } = await startFor(mayAsk)
    expect(confirmedBy(await send('eth_gasPrice', '[]', ask('2')))).toBeNull()
    expect(takeCalls()).toEqual([1, 0, 0])
  })
})

describe('an app or API key that requires confirmation', () => {
  const two = { confirmNodes: 2, confirmHeader: false }

  test('gets all reads confirmed, and other calls as ever', async () => {
    const { send, takeCalls } = await startFor(two)
    expect(confirmedBy(await send(...balance))).toBe('2')
    expect(confirmedBy(await send(...atBlock))).toBe('2')
    expect(takeCalls()).toEqual([2, 2, 0])
    expect(confirmedBy(await send('eth_gasPrice', '[]'))).toBeNull()
    expect(takeCalls()).toEqual([1, 0, 0])
  })

  test('gets no less than the network requires', async () => {
    const { send } = await startFor(two, { ...byCallers, confirm: [{ methods, nodes: 3 }] })
    expect(confirmedBy(await send(...balance))).toBe('3')
  })

  test('gets an error where the network would serve what the nodes do not agree on', async () => {
    const rule = { methods, onDispute: 'serve' as const, onFew: 'serve' as const }
    const { send } = await start([says('"0x1"'), says('"0x2"')], { ...byCallers, confirm: [rule] }, [], { own: two })
    expect((await send(...balance)).text).toContain('nodes_disagree')
  })

  test('gets an error on a network where callers may not ask for it', async () => {
    const { send, takeCalls } = await startFor(two, {})
    expect((await send(...balance)).text).toContain('its owner can set \\"confirmNodes\\" to 0')
    expect(takeCalls()).toEqual([0, 0, 0])
  })
})

test('the calls of a batch are confirmed each on its own, and other methods as ever', async () => {
  const { rpcUrl, nodes, takeCalls } = await start([says('"0x1"'), says('"0x1"')])
  const batch = ['eth_getBalance', 'eth_getBalance', 'eth_gasPrice'].map((method, id) => ({
    jsonrpc: '2.0',
    id,
    method,
    params: method === 'eth_gasPrice' ? [] : [`0x0${id}`, 'latest'],
  }))
  const { text } = await post(rpcUrl, JSON.stringify(batch))
  expect(JSON.parse(text)).toEqual(batch.map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x1' })))
  expect(nodes[1]?.bodies.join('')).not.toContain('eth_gasPrice')
  expect(takeCalls()).toEqual([3, 2])
})

test('neither the cache nor reads in flight are used', async () => {
  const { send, takeCalls } = await start([says('"0x1"'), says('"0x1"')])
  await Promise.all([send(...atBlock), send(...atBlock)])
  await send(...atBlock)
  expect(takeCalls()).toEqual([3, 3])
})
