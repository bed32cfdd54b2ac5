import { afterEach, describe, expect, test } from 'vitest'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import type { AllowListEntries } from '../../src/auth/allowList/allowListEntries.ts'
import type { GatewayOptions, KeyRecord } from '../../src/index.ts'
import { post } from '../startGateway.ts'
import { call, said, startTenants } from './startTenants.ts'
import type { StartedTenants } from './startTenants.ts'

const toStop: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0)) await stop()
})
const start = async (options: Partial<GatewayOptions> = {}): Promise<StartedTenants> => {
  const started = await startTenants(options)
  toStop.push(started.stop)
  return started
}
const read = call('eth_gasPrice')
const allow = (entries: AllowListEntries): Pick<KeyRecord, 'allow'> => ({ allow: compileAllowList(entries) })
const withHeaders = (headers: Record<string, string>): RequestInit => ({
  headers: { 'content-type': 'application/json', ...headers },
})

describe("an app's lists", () => {
  test('of IPs go by the socket, whatever the caller writes; behind a trusted proxy by what that wrote', async () => {
    const office = allow({ ips: [{ value: '203.0.113.0/24' }] })
    const here = allow({ ips: [{ value: '127.0.0.1' }] })
    const plain = await start()
    const forged = withHeaders({ 'x-forwarded-for': '203.0.113.9' })
    expect(said(await post(plain.addApp(office).path, read, forged))).toEqual([403, 'ip_not_allowed'])
    expect(said(await post(plain.addApp(here).path, read, forged))).toEqual([200, '0x1'])
    const proxied = await start({ trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] })
    const { path } = proxied.addApp(office)
    expect(said(await post(path, read, forged))).toEqual([200, '0x1'])
    for (const forwarded of ['203.0.113.9, 198.51.100.1', '198.51.100.1, 10.0.0.1', '203.0.113.9, unknown', ''])
      expect(said(await post(path, read, withHeaders({ 'x-forwarded-for': forwarded })))).toEqual([
        403,
        'ip_not_allowed',
      ])
  })

  test('of origins and user agents are held against the headers, and an origin sent twice is none', async () => {
    const { addApp } = await start()
    const { path } = addApp(allow({ origins: [{ value: 'https://app.example' }], userAgents: [{ value: 'wallet/' }] }))
    const origin = 'https://app.example'
    const userAgent = 'Wallet/2.0'
    expect(said(await post(path, read, withHeaders({ origin, 'user-agent': userAgent })))).toEqual([200, '0x1'])
    expect(said(await post(path, read, withHeaders({ 'user-agent': userAgent })))).toEqual([403, 'origin_not_allowed'])
    expect(
      said(await post(path, read, withHeaders({ origin: 'https://app.example.evil', 'user-agent': userAgent }))),
    ).toEqual([403, 'origin_not_allowed'])
    expect(said(await post(path, read, withHeaders({ origin, 'user-agent': 'curl' })))).toEqual([
      403,
      'user_agent_not_allowed',
    ])
    const twice = new Headers(withHeaders({ origin, 'user-agent': userAgent }).headers)
    twice.append('origin', origin)
    expect(said(await post(path, read, { headers: twice }))).toEqual([403, 'origin_not_allowed'])
  })

  test('of methods and addresses are held against each call of a batch by itself', async () => {
    const { addApp, upstream } = await start()
    const listed = '0x00000000000000000000000000000000000000AA'
    const { path } = addApp(allow({ methods: [{ value: 'eth_*' }], addresses: [{ value: listed }] }))
    const to = (address: string): string => `[{"to":"${address}"},"latest"]`
    const items = [
      call('eth_call', to(listed.toLowerCase())),
      call('eth_call', to('0x00000000000000000000000000000000000000bb')),
      call('net_version'),
      call('eth_call', `[{"to":"${listed}","to":"0x00000000000000000000000000000000000000bb"},"latest"]`),
      call('eth_gasPrice'),
    ]
    expect(said(await post(path, `[${items.join(',')}]`))).toEqual([
      200,
      '0x1',
      'address_not_allowed',
      'method_not_allowed',
      'address_not_allowed',
      '0x1',
    ])
    expect(said(await post(path, items[1] ?? ''))).toEqual([403, 'address_not_allowed'])
    expect(said(await post(path, items[2] ?? ''))).toEqual([403, 'method_not_allowed'])
    expect(upstream.bodies.join()).not.toContain('bb')
  })

  test('what is rejected by a list is not counted against a quota', async () => {
    const { addApp, quota } = await start()
    const limits = { perSecond: null, burst: 1, perDay: 10, perMonth: null }
    const { path } = addApp({ ...allow({ methods: [{ value: 'eth_call' }] }), appId: 'app_l', limits })
    await post(path, read)
    expect(quota.used('app:app_l')).toBe(0)
  })
})

describe('what is known of a key', () => {
  test("an app without 'Node API' answers 403, and an API key has no services to lack", async () => {
    const { addApp, addApiKey } = await start()
    expect(said(await post(addApp({ services: [] }).path, read))).toEqual([403, 'service_off'])
    expect(said(await post(addApp({ services: ['Node API', 'Other'] }).path, read))).toEqual([200, '0x1'])
    expect(said(await post(addApiKey().path, read))).toEqual([200, '0x1'])
  })

  test('ends at its time, judged at each request', async () => {
    const { addApiKey, clock } = await start()
    const { path } = addApiKey({ endsAt: clock.now + 1 })
    expect(said(await post(path, read))).toEqual([200, '0x1'])
    clock.now += 1
    expect(said(await post(path, read))).toEqual([401, 'key_expired'])
  })

  test('is disabled with its user, and tells so before anything else', async () => {
    const { addApiKey } = await start()
    const { path } = addApiKey({ status: 'disabled', endsAt: 0 })
    expect(said(await post(path.replace('testnet', 'mainnet'), read))).toEqual([401, 'key_disabled'])
  })
})
