import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCallIds } from '../../src/proxy/request/readCallIds.ts'
import { post } from '../startGateway.ts'
import { call, noLimits, openTenants, startTenants } from '../tenants/startTenants.ts'
import type { StartedTenants } from '../tenants/startTenants.ts'
import { openSocket } from './openSocket.ts'
import type { SocketMessage } from './openSocket.ts'

// A client that sent several messages over one connection can only match a rejection by its ids. Without them, go-ethereum's waits for its deadline.

let started: StartedTenants
beforeAll(async () => {
  started = await startTenants()
})
afterAll(() => started.stop())

const toBatch = (ids: readonly unknown[], params: unknown = []): string =>
  JSON.stringify(ids.map((id) => ({ jsonrpc: '2.0', id, method: 'eth_gasPrice', params })))
const nest = (depth: number): unknown => (depth === 0 ? [] : [nest(depth - 1)])

describe('a message that is rejected as a whole', () => {
  test('gets an error for each of its 1,200 calls', async () => {
    const ids = Array.from({ length: 1_200 }, (_, index) => index + 1)
    const socket = await openSocket(started.addApp().path)
    socket.send(toBatch(ids))
    const responses = (await socket.next()) as readonly SocketMessage[]
    expect(responses.map(({ id }) => id)).toEqual(ids)
    expect(new Set(responses.map(({ error }) => error?.message))).toEqual(new Set(['Batch too large: 1200 > 1000']))
  })

  test.each([
    ['that is too deep', toBatch(['a', 2], nest(200)), ['a', 2]],
    [
      'that is too deep, with calls without a readable id',
      `[1,{"id":[]},${toBatch(['b'], nest(200)).slice(1)}`,
      [null, 'b'],
    ],
  ])('%s gets an error for each id', async (_, message, ids) => {
    const socket = await openSocket(started.addApp().path)
    socket.send(message)
    const responses = (await socket.next()) as readonly SocketMessage[]
    expect(responses.map(({ id }) => id)).toEqual(ids)
  })

  test('as a single call that is too deep gets its id', async () => {
    const socket = await openSocket(started.addApp().path)
    socket.send(toBatch([7], nest(200)).slice(1, -1))
    expect(await socket.next()).toMatchObject({ id: 7, error: {} })
  })

  test.each(['[]', '{'])('has no ids: %s gets one error without one', async (message) => {
    const socket = await openSocket(started.addApp().path)
    socket.send(message)
    expect(await socket.next()).toMatchObject({ id: null })
  })
})

describe('a call that is no request gets its id, as JSON-RPC 2.0 section 5 says', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":7}', 7],
    ['{"id":"seven","method":"eth_gasPrice"}', 'seven'],
    ['{"jsonrpc":"2.0","id":7,"method":1}', 7],
    ['{"jsonrpc":"2.0","method":"a","id":7,"method":"b"}', 7],
    ['{"jsonrpc":"2.0","id":7,"Method":"eth_gasPrice","method":"eth_gasPrice"}', 7],
    ['{"jsonrpc":"2.0","id":7,"id":8,"method":"eth_gasPrice"}', null],
    ['{"jsonrpc":"2.0","id":[7]}', null],
    ['{"jsonrpc":"2.0"}', null],
  ])('%s: %j', async (body, id) => {
    const { path } = started.addApp()
    const socket = await openSocket(path)
    for (const text of [body, `[${body}]`]) {
      const { text: response } = await post(path, text)
      expect([JSON.parse(response)].flat()).toMatchObject([{ id, error: { code: -32600 } }])
      socket.send(text)
      expect([await socket.next()].flat()).toMatchObject([{ id, error: { code: -32600 } }])
    }
  })
})

describe.each(['rate_limited', 'quota_exceeded', 'key_store_unavailable'])(
  'notifications that are not granted (%s)',
  (reason) => {
    const notification = '{"jsonrpc":"2.0","method":"eth_blockNumber"}'
    test.each([
      ['alone', notification],
      ['in a batch', `[${notification}]`],
      ['in a batch of several', `[${notification},${notification}]`],
    ])('get no response: %s', async (_, message) => {
      const limited = await openTenants()
      const limits = { rate_limited: { perSecond: 1, burst: 1 }, quota_exceeded: { perDay: 0 } }[reason]
      const socket = await openSocket(limited.addApp({ limits: { ...noLimits, ...limits } }).path)
      if (reason === 'key_store_unavailable') limited.usageLimits.mode = 'unavailable'
      socket.send(message)
      // A call after them is the first to get a response.
      socket.send(call('eth_gasPrice', '[]', 7))
      expect(await socket.next()).toMatchObject({ id: 7, error: { data: { reason } } })
    })
  },
)

test.each([
  ['text that is not JSON', '[{"id":1,"method":oops},{"id":"x"}]', ['1', '"x"']],
  ['an id with an escape, which may be none', String.raw`{"id":"\u"}`, 'null'],
  ['an id in a nested object', '{"params":{"id":1}}', 'null'],
  ['more than 10,000 calls', `[${'{"id":1},'.repeat(10_000)}{"id":1}]`, 'null'],
  ['nothing', '', 'null'],
])('only ids that are surely JSON are read from %s', (_, text, ids) => {
  expect(readCallIds(Buffer.from(text))).toEqual(ids)
})
