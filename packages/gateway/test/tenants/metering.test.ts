import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import { controlTime, until } from '../controlTime.ts'
import { result } from '../fakeUpstream.ts'
import type { SeenCall } from '../fakeUpstream.ts'
import { openRaw, postBytes } from '../rawConnection.ts'
import { post } from '../startGateway.ts'
import { batch, call, noLimits, openTenants } from './startTenants.ts'

const read = call('eth_gasPrice')

afterEach(() => void vi.useRealTimers())

describe('metering counts', () => {
  test('each call once, by method and outcome', async () => {
    const pass = controlTime()
    const { addApp, meter, upstream } = await openTenants({ bounds: { upstreamTimeoutMs: 200 } })
    const { path } = addApp({ id: 'key_m', allow: compileAllowList({ methods: [{ value: 'eth_*' }] }) })
    await post(path, read)
    upstream.behave = (seen) => `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":3,"message":"execution reverted"}}`
    await post(path, call('eth_call'))
    upstream.behave = (seen) => `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32602,"message":"invalid argument"}}`
    await post(path, call('eth_call'))
    upstream.behave = () => undefined
    const pending = post(path, call('eth_getLogs'))
    await until(() => upstream.bodies.join().includes('eth_getLogs'))
    pass(200)
    await pending
    await post(path, call('net_version'))
    await post(path, call('my_secret_method'))
    await post(path, call('eth_call', '1'))
    upstream.behave = (seen) => result(seen, '1')
    await post(path, '{"jsonrpc":"2.0","method":"eth_maxPriorityFeePerGas"}')
    await post(path, batch('eth_blobBaseFee', 'nope', 'net_version'))
    expect(meter.counted).toEqual(
      [
        'eth_gasPrice succeeded',
        'eth_call reverted',
        'eth_call nodeError',
        'eth_getLogs upstreamFailed',
        'net_version method_not_allowed',
        'other method_not_found',
        'eth_call invalid_params',
        'eth_maxPriorityFeePerGas succeeded',
        'eth_blobBaseFee succeeded',
        'other method_not_found',
        'net_version method_not_allowed',
      ].map((line) => `key_m testnet ${line}`),
    )
    expect(meter.durations.map((ms) => ms && Math.round(ms))).toEqual([0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0])
  })

  test('calls with the old key of a rotation apart', async () => {
    const { addApp, meter } = await openTenants()
    await post(addApp({ id: 'key_r', old: true }).path, read)
    await post(addApp({ id: 'key_r' }).path, read)
    expect(meter.counted).toEqual(['key_r:old', 'key_r'].map((id) => `${id} testnet eth_gasPrice succeeded`))
  })

  test('a rejected request of a known key by its reason, and a rejected batch by its calls', async () => {
    const { addApp, addApiKey, meter, url } = await openTenants({ bounds: { maxBatchCalls: 2, maxBodyBytes: 300 } })
    const { path } = addApp({ id: 'key_w' })
    for (const body of ['{', '[]', '1', batch('a', 'b', 'c')]) await post(path, body)
    await post(addApp({ id: 'key_off', services: [] }).path, read)
    await post(addApiKey({ id: 'key_rev', status: 'revoked' }).path, read)
    await post(addApiKey({ id: 'key_net' }).path.replace('testnet', 'mainnet'), read)
    await post(`${url}/testnet/none`, read)
    await post(`${url}/nothing`, read)
    await post(path, 'x'.repeat(400))
    expect(meter.counted).toEqual([
      'key_w testnet other parse_error',
      'key_w testnet other batch_empty',
      'key_w testnet other invalid_request',
      ...Array.from({ length: 3 }, () => 'key_w testnet other batch_too_large'),
      'key_off testnet other service_off',
      'key_rev testnet other key_revoked',
      'key_net mainnet other wrong_network',
    ])
  })

  test.each([
    ['the quota throws', 'throws'],
    ['the quota rejects', 'rejects'],
  ] as const)('each call of a batch that is rejected because %s', async (_, mode) => {
    const { addApp, meter, usageLimits } = await openTenants()
    const { path } = addApp({ id: 'key_d', limits: { ...noLimits, perDay: 100 } })
    usageLimits.mode = 'unavailable'
    if (mode === 'throws')
      usageLimits.take = () => {
        throw new Error('the database is unreachable')
      }
    await post(path, batch('eth_gasPrice', 'nope', 'eth_gasPrice', 'eth_blockNumber'))
    await post(path, call('eth_gasPrice'))
    expect(meter.counted).toEqual(
      ['eth_gasPrice', 'other', 'eth_gasPrice', 'eth_blockNumber', 'eth_gasPrice'].map(
        (each) => `key_d testnet ${each} key_store_unavailable`,
      ),
    )
  })

  test('a chunked body that exceeds the limit once, if its key is known', async () => {
    const { addApp, meter, port } = await openTenants({ bounds: { maxBodyBytes: 300 } })
    const { path } = addApp({ id: 'key_c' })
    const connection = await openRaw(port)
    const chunk = `100\r\n${'x'.repeat(256)}\r\n`
    connection.send(
      `POST ${new URL(path).pathname} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`,
    )
    expect((await connection.next()).status).toBe(413)
    connection.destroy()
    expect(meter.counted).toEqual(['key_c testnet other body_too_large'])
  })

  test('calls over a limit by the reason of the rejection', async () => {
    const { addApp, meter } = await openTenants()
    const { path } = addApp({ id: 'key_l', limits: { ...noLimits, perSecond: 1, burst: 2, perDay: 1 } })
    await post(path, batch('eth_gasPrice', 'eth_blockNumber', 'eth_blobBaseFee'))
    expect(meter.counted).toEqual([
      'key_l testnet eth_gasPrice succeeded',
      'key_l testnet eth_blockNumber quota_exceeded',
      'key_l testnet eth_blobBaseFee rate_limited',
    ])
  })

  test.each([
    ['a call', read, ['eth_gasPrice disconnected']],
    ['a batch', batch('eth_gasPrice', 'nope'), ['eth_gasPrice disconnected', 'other disconnected']],
  ])('%s whose caller disconnected as disconnected, and charges the quota', async (_, body, counted) => {
    const { addApp, meter, upstream, port, usageLimits } = await openTenants()
    const { path } = addApp({ id: 'key_g', appId: 'app_g', limits: { ...noLimits, perDay: 9 } })
    upstream.behave = () => undefined
    const connection = await openRaw(port)
    connection.send(postBytes(new URL(path).pathname, body))
    await expect.poll(() => upstream.bodies.length).toBe(1)
    connection.reset()
    await expect.poll(() => meter.counted).toEqual(counted.map((line) => `key_g testnet ${line}`))
    expect(usageLimits.used('app:app_g')).toBe(1)
  })

  const transaction = call('eth_sendRawTransaction', '["0x00"]')
  test.each([
    ['a transaction', transaction],
    ['the only transaction of a batch', `[${transaction}]`],
  ])('%s whose caller disconnected by its actual outcome', async (_, body) => {
    const { addApp, meter, upstream, port, entries } = await openTenants()
    const { path } = addApp({ id: 'key_t' })
    let respond = (): void => {}
    upstream.behave = (seen, response) => {
      respond = () => void response.end(result(seen, '"0x1"'))
      return undefined
    }
    const connection = await openRaw(port)
    connection.send(postBytes(new URL(path).pathname, body))
    await expect.poll(() => upstream.bodies.length).toBe(1)
    connection.reset()
    await expect.poll(() => entries.some(({ event }) => event === 'disconnected')).toBe(true)
    respond()
    await expect.poll(() => meter.counted).toEqual(['key_t testnet eth_sendRawTransaction succeeded'])
  })

  const large = (call: SeenCall): string => result(call, `"${'x'.repeat(3_000_000)}"`)
  test.each<[string, (call: SeenCall, response: ServerResponse) => string | undefined, string]>([
    ['that was complete', large, 'succeeded'],
    [
      'that its node aborted',
      (call, response) => void response.write(large(call).slice(0, -2), () => response.destroy()),
      'upstreamFailed',
    ],
    ['that ended with an error', (call) => `${large(call).slice(0, -1)},"error":{"code":1}}`, 'upstreamFailed'],
  ])('a large result %s once, with that outcome', async (_, behave, outcome) => {
    const { addApp, meter, upstream, usageLimits } = await openTenants()
    const { path } = addApp({ id: 'key_s', appId: 'app_s', limits: { ...noLimits, perDay: 9 } })
    upstream.behave = behave
    await post(path, call('eth_call')).catch(() => {})
    await expect.poll(() => meter.counted).toEqual([`key_s testnet eth_call ${outcome}`])
    // The response had started, so the call is charged.
    expect(usageLimits.used('app:app_s')).toBe(1)
  })

  test('a large result whose caller disconnects halfway as disconnected', async () => {
    const { addApp, meter, upstream, port } = await openTenants()
    const { path } = addApp({ id: 'key_s' })
    upstream.behave = (call, response) => void response.write(large(call).slice(0, -2))
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.write(postBytes(new URL(path).pathname, call('eth_call')))
    await once(socket, 'data')
    expect(meter.counted).toEqual([])
    socket.resetAndDestroy()
    await expect.poll(() => meter.counted).toEqual(['key_s testnet eth_call disconnected'])
  })

  test('nothing if the meter throws, and the call succeeds', async () => {
    const { addApp, meter, entries } = await openTenants()
    meter.count = () => {
      throw new Error('the meter is broken')
    }
    expect((await post(addApp().path, read)).status).toBe(200)
    expect(entries).toContainEqual({ event: 'fault', where: 'meter', code: 'other', count: 1 })
  })
})
