import { describe, expect, test } from 'vitest'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import type { TestConfig, TestOptions } from '../createTestGateway.ts'
import { result } from '../fakeUpstream.ts'
import { post } from '../startGateway.ts'
import { batch, call, noLimits, summarize, openTenants } from '../tenants/startTenants.ts'
import type { StartedTenants } from '../tenants/startTenants.ts'
import { createFakeHub } from './createFakeHub.ts'
import type { FakeHub } from './createFakeHub.ts'
import { openSocket } from './openSocket.ts'
import type { SocketMessage } from './openSocket.ts'

const start = async (options: Partial<TestOptions> = {}): Promise<{ started: StartedTenants; hub: FakeHub }> => {
  const hub = createFakeHub()
  const createHub = ({ network }: { network: string }) => (network === 'testnet' ? hub : createFakeHub())
  const started = await openTenants({ ...options, createHub })
  return { started, hub }
}

describe('eth_subscribe', () => {
  test('passes its params to the subscriptions of the network; notifications follow the id', async () => {
    const { started, hub } = await start()
    const socket = await openSocket(started.addApp().path)
    const subscribed = await socket.call('eth_subscribe', ['newHeads'], 7)
    expect(subscribed).toEqual({ jsonrpc: '2.0', id: 7, result: `0x${'1'.padStart(32, '0')}` })
    expect(hub.seen).toEqual(['["newHeads"]'])
    hub.notify('{"number":"0x1"}')
    expect(await socket.next()).toEqual({
      jsonrpc: '2.0',
      method: 'eth_subscription',
      params: { subscription: subscribed.result, result: { number: '0x1' } },
    })
    expect([...started.gateway.webSockets().subscriptions]).toEqual([
      ['testnet', { newHeads: 1, logs: 0, newPendingTransactions: 0, syncing: 0 }],
    ])
    expect(await socket.call('eth_unsubscribe', [subscribed.result])).toMatchObject({ result: true })
    expect(await socket.call('eth_unsubscribe', [subscribed.result])).toMatchObject({ result: false })
    expect(await socket.call('eth_unsubscribe')).toMatchObject({ error: { code: -32602 } })
    hub.notify('2')
    expect(await socket.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
  })

  test('is rejected over POST with a hint, and does not exist without WebSockets', async () => {
    const { started } = await start()
    const { path } = started.addApp()
    const posted = await post(path, call('eth_subscribe', '["newHeads"]'))
    expect(JSON.parse(posted.text)).toMatchObject({
      error: {
        code: -32601,
        message: expect.stringContaining('needs a WebSocket'),
        data: { reason: 'method_not_found' },
      },
    })
    expect(summarize(await post(path, batch('eth_unsubscribe', 'eth_gasPrice')))).toEqual([
      200,
      'method_not_found',
      '0x1',
    ])
    const none = await start({ webSocket: { enabled: false } })
    const off = await post(none.started.addApp().path, call('eth_subscribe', '["newHeads"]'))
    expect(off.text).toContain('the method eth_subscribe does not exist')
  })

  test('in a batch is responded to before its first notification', async () => {
    const { started, hub } = await start()
    const socket = await openSocket(started.addApp().path)
    let release = (): void => {}
    started.upstream.behave = (seen, response) => {
      release = () => void response.end(result(seen, '1'))
      return undefined
    }
    socket.send(`[${call('eth_subscribe', '["newHeads"]', 1)},${call('eth_call', '[]', 2)}]`)
    await expect.poll(() => started.upstream.bodies.length).toBe(1)
    await expect.poll(() => hub.subscribers()).toBe(1)
    hub.notify('1')
    hub.notify('2')
    release()
    expect(await socket.next()).toMatchObject([
      { id: 1, result: expect.stringMatching(/^0x/) },
      { id: 2, result: 1 },
    ])
    const values = [await socket.next(), await socket.next()].map(
      (message) => ((message as SocketMessage).params as { result: number }).result,
    )
    expect(values).toEqual([1, 2])
  })

  test('is charged and counted as a call, and notifications only if they have a weight', async () => {
    for (const [weights, used] of [
      [{}, 1],
      [{ eth_subscription: 2 }, 7],
    ] as const) {
      const { started, hub } = await start({ limits: { weights } })
      const { path } = started.addApp({ appId: 'app_counted', limits: { ...noLimits, perDay: 100 } })
      const socket = await openSocket(path)
      await socket.call('eth_subscribe', ['newHeads'])
      hub.notify('1', 3)
      const heads = [await socket.next(), await socket.next(), await socket.next()]
      expect(heads.length).toBe(3)
      socket.ws.close()
      await expect.poll(() => started.entries.at(-1)).toMatchObject({ event: 'webSocket', notifications: 3 })
      expect(started.usageLimits.used('app:app_counted')).toBe(used)
      expect(started.meter.counted.map((line) => line.replace(/^\S+ /, ''))).toEqual([
        'testnet websocket succeeded',
        'testnet eth_subscribe succeeded',
        ...Array.from({ length: 3 }, () => 'testnet eth_subscription succeeded'),
      ])
      expect([...(started.gateway.webSockets().notifications.get('testnet') ?? [])]).toEqual([['newHeads', 3]])
    }
  })

  test('with a weight ends with the quota: the connection is closed', async () => {
    const { started, hub } = await start({ limits: { weights: { eth_subscription: 1 } } })
    const socket = await openSocket(started.addApp({ limits: { ...noLimits, perDay: 3 } }).path)
    await socket.call('eth_subscribe', ['newHeads'])
    hub.notify('1', 3)
    expect(await socket.closed).toEqual({ code: 1008, reason: 'quota_exceeded' })
  })

  test('is rejected like any call: by the quota, the lists of methods and of addresses', async () => {
    const { started, hub } = await start()
    const allow = (entries: Parameters<typeof compileAllowList>[0]) => ({ allow: compileAllowList(entries) })
    const listed = `0x${'11'.repeat(20)}`
    const cases = [
      [{ limits: { ...noLimits, perDay: 0 } }, ['newHeads'], 'quota_exceeded'],
      [allow({ methods: [{ value: 'eth_call' }] }), ['newHeads'], 'method_not_allowed'],
      [allow({ addresses: [{ value: listed }] }), ['logs', {}], 'address_not_allowed'],
      [allow({ addresses: [{ value: listed }] }), ['logs'], 'address_not_allowed'],
      [allow({ addresses: [{ value: listed }] }), ['logs', { address: `0x${'22'.repeat(20)}` }], 'address_not_allowed'],
      [allow({ addresses: [{ value: listed }] }), ['newPendingTransactions'], 'address_not_allowed'],
    ] as const
    for (const [more, params, reason] of cases) {
      const socket = await openSocket(started.addApp(more).path)
      expect((await socket.call('eth_subscribe', params)).error?.data?.['reason']).toBe(reason)
    }
    expect(hub.seen).toEqual([])
    const socket = await openSocket(started.addApp(allow({ addresses: [{ value: listed }] })).path)
    const cursor = { cursor: { number: '0x1', hashes: [`0x${'33'.repeat(32)}`] } }
    for (const params of [
      ['newHeads'],
      ['newHeads', { cursor: null }],
      ['syncing'],
      ['logs', { address: listed }],
      ['logs', { address: [listed], topics: [] }, cursor],
    ])
      expect((await socket.call('eth_subscribe', params)).result).toBeDefined()
  })
})

describe('the subscriptions of a connection', () => {
  test('end with it', async () => {
    const { started, hub } = await start()
    const socket = await openSocket(started.addApp().path)
    await socket.call('eth_subscribe', ['newHeads'])
    expect(hub.subscribers()).toBe(1)
    socket.ws.terminate()
    await expect.poll(() => hub.subscribers()).toBe(0)
    expect(started.gateway.webSockets().connections.size).toBe(0)
  })

  test.each([
    ['tooManyNotifications', 1008, 'too_many_notifications'],
    ['reorgTooDeep', 1011, 'reorg_too_deep'],
    ['nodeUnavailable', 1011, 'no_upstream'],
  ] as const)('that fail with %s close it', async (fault, code, reason) => {
    const { started, hub } = await start()
    const socket = await openSocket(started.addApp().path)
    await socket.call('eth_subscribe', ['newHeads'])
    hub.fail(fault)
    expect(await socket.closed).toEqual({ code, reason })
    await expect.poll(() => started.entries.at(-1)).toMatchObject({ state: 'closed', reason, code })
  })

  test('survive a reload, and close with 1012 if it changes the chain', async () => {
    const { started, hub } = await start()
    const socket = await openSocket(started.addApp().path)
    await socket.call('eth_subscribe', ['newHeads'])
    const options = (chainId: number): TestConfig => ({
      networks: { testnet: { chainId, upstreams: [{ url: started.upstream.url }] } },
    })
    await started.gateway.reload(options(31_337))
    hub.notify('1')
    expect(await socket.next()).toMatchObject({ method: 'eth_subscription' })
    expect(await socket.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
    expect(hub.isClosed()).toBe(false)
    await started.gateway.reload(options(1))
    expect(await socket.closed).toEqual({ code: 1012, reason: 'service restart' })
    expect(hub.isClosed()).toBe(true)
  })
})
