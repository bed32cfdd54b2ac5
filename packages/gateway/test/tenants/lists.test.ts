import { describe, expect, test } from 'vitest'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import type { AllowListEntries } from '../../src/auth/allowList/allowListEntries.ts'
import type { KeyRecord } from '../../src/auth/key/keyStore.ts'
import { post } from '../startGateway.ts'
import { call, summarize, openTenants } from './startTenants.ts'

const read = call('eth_gasPrice')
const allow = (entries: AllowListEntries): Pick<KeyRecord, 'allow'> => ({ allow: compileAllowList(entries) })
const withHeaders = (headers: Record<string, string>): RequestInit => ({
  headers: { 'content-type': 'application/json', ...headers },
})

describe('an allow list', () => {
  test('of IPs uses the address of the socket, or the one forwarded by a trusted proxy', async () => {
    const office = allow({ ips: [{ value: '203.0.113.0/24' }] })
    const local = allow({ ips: [{ value: '127.0.0.1' }] })
    const plain = await openTenants()
    const forged = withHeaders({ 'x-forwarded-for': '203.0.113.9' })
    expect(summarize(await post(plain.addApp(office).path, read, forged))).toEqual([403, 'ip_not_allowed'])
    expect(summarize(await post(plain.addApp(local).path, read, forged))).toEqual([200, '0x1'])
    const proxied = await openTenants({ trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] })
    const { path } = proxied.addApp(office)
    expect(summarize(await post(path, read, forged))).toEqual([200, '0x1'])
    for (const forwarded of ['203.0.113.9, 198.51.100.1', '198.51.100.1, 10.0.0.1', '203.0.113.9, unknown', ''])
      expect(summarize(await post(path, read, withHeaders({ 'x-forwarded-for': forwarded })))).toEqual([
        403,
        'ip_not_allowed',
      ])
  })

  test('of origins and user agents checks the headers and rejects a repeated Origin header', async () => {
    const { addApp } = await openTenants()
    const { path } = addApp(allow({ origins: [{ value: 'https://app.example' }], userAgents: [{ value: 'wallet/' }] }))
    const origin = 'https://app.example'
    const userAgent = 'Wallet/2.0'
    expect(summarize(await post(path, read, withHeaders({ origin, 'user-agent': userAgent })))).toEqual([200, '0x1'])
    expect(summarize(await post(path, read, withHeaders({ 'user-agent': userAgent })))).toEqual([
      403,
      'origin_not_allowed',
    ])
    expect(
      summarize(await post(path, read, withHeaders({ origin: 'https://app.example.evil', 'user-agent': userAgent }))),
    ).toEqual([403, 'origin_not_allowed'])
    expect(summarize(await post(path, read, withHeaders({ origin, 'user-agent': 'curl' })))).toEqual([
      403,
      'user_agent_not_allowed',
    ])
    const twice = new Headers(withHeaders({ origin, 'user-agent': userAgent }).headers)
    twice.append('origin', origin)
    expect(summarize(await post(path, read, { headers: twice }))).toEqual([403, 'origin_not_allowed'])
  })

  test('of methods and addresses checks each call of a batch', async () => {
    const { addApp, upstream } = await openTenants()
    const listed = '0x00000000000000000000000000000000000000AA'
    const { path } = addApp(allow({ methods: [{ value: 'eth_*' }], addresses: [{ value: listed }] }))
    const to = (address: string): string => `[{"to":"${address}"},"latest"]`
    const calls = [
      call('eth_call', to(listed.toLowerCase())),
      call('eth_call', to('0x00000000000000000000000000000000000000bb')),
      call('net_version'),
      call('eth_call', `[{"to":"${listed}","to":"0x00000000000000000000000000000000000000bb"},"latest"]`),
      call('eth_gasPrice'),
    ]
    expect(summarize(await post(path, `[${calls.join(',')}]`))).toEqual([
      200,
      '0x1',
      'address_not_allowed',
      'method_not_allowed',
      'address_not_allowed',
      '0x1',
    ])
    expect(summarize(await post(path, calls[1] ?? ''))).toEqual([403, 'address_not_allowed'])
    expect(summarize(await post(path, calls[2] ?? ''))).toEqual([403, 'method_not_allowed'])
    expect(upstream.bodies.join()).not.toContain('bb')
  })

  test('that rejects a call leaves the quota unchanged', async () => {
    const { addApp, usageLimits } = await openTenants()
    const limits = { perSecond: null, burst: 1, perDay: 10, perMonth: null }
    const { path } = addApp({ ...allow({ methods: [{ value: 'eth_call' }] }), appId: 'app_l', limits })
    await post(path, read)
    expect(usageLimits.used('app:app_l')).toBe(0)
  })
})

describe('a key', () => {
  test("of an app without 'Node API' gets 403, and API keys have no services", async () => {
    const { addApp, addApiKey } = await openTenants()
    expect(summarize(await post(addApp({ services: [] }).path, read))).toEqual([403, 'service_off'])
    expect(summarize(await post(addApp({ services: ['Node API', 'Other'] }).path, read))).toEqual([200, '0x1'])
    expect(summarize(await post(addApiKey().path, read))).toEqual([200, '0x1'])
  })

  test('expires on time, because each request checks it', async () => {
    const { addApiKey, clock } = await openTenants()
    const { path } = addApiKey({ expiresAt: clock.now + 1 })
    expect(summarize(await post(path, read))).toEqual([200, '0x1'])
    clock.now += 1
    expect(summarize(await post(path, read))).toEqual([401, 'key_expired'])
  })

  test('of a disabled user is rejected as disabled before any other check', async () => {
    const { addApiKey } = await openTenants()
    const { path } = addApiKey({ status: 'disabled', expiresAt: 0 })
    expect(summarize(await post(path.replace('testnet', 'mainnet'), read))).toEqual([401, 'key_disabled'])
  })
})
