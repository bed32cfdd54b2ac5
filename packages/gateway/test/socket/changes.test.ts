import { describe, expect, test } from 'vitest'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import { compileJwtPolicy } from '../../src/auth/jwt/jwtPolicy.ts'
import type { KeyRecord } from '../../src/auth/key/keyStore.ts'
import { createSigner, signToken } from '../tenants/signToken.ts'
import { noon, openTenants } from '../tenants/startTenants.ts'
import { openSocket } from './openSocket.ts'

const signer = createSigner('kid-one')
const exp = noon / 1000 + 600
const jwt: Pick<KeyRecord, 'jwt'> = {
  jwt: { policy: compileJwtPolicy({ keys: [{ kid: signer.kid, pem: signer.pem }] }), required: true },
}
const record: KeyRecord = {
  id: 'key-changing',
  kind: 'app',
  networks: ['testnet'],
  status: 'active',
  services: ['Node API'],
  ...jwt,
}
const bearer = { headers: { Authorization: `Bearer ${signToken(signer, { exp })}` } }

/** Each change of a key's record, and the reason with which its connections close. */
const changes: readonly [change: string, change: Partial<KeyRecord> | 'deleted', reason: string][] = [
  ['revoked', { status: 'revoked' }, 'key_revoked'],
  ['deleted', 'deleted', 'key_unknown'],
  ['disabled', { status: 'disabled' }, 'key_disabled'],
  ['given an expiry in the past', { expiresAt: noon - 1 }, 'key_expired'],
  ['not enabled for the network any more', { networks: ['mainnet'] }, 'wrong_network'],
  ['given a list of other IPs', { allow: compileAllowList({ ips: [{ value: '203.0.113.7' }] }) }, 'ip_not_allowed'],
  [
    'given a list of origins',
    { allow: compileAllowList({ origins: [{ value: 'https://good.example' }] }) },
    'origin_not_allowed',
  ],
  ['switched off', { services: [] }, 'service_off'],
  [
    'given other JWT keys',
    { version: 1, jwt: { policy: compileJwtPolicy({ keys: [createSigner('kid-two')] }), required: true } },
    'jwt_invalid',
  ],
]

describe('an open WebSocket', () => {
  test.each(changes)('closes within seconds when its key is %s', async (_, change, reason) => {
    const started = await openTenants()
    const { path, key } = started.addApp(record)
    const { find } = started.keys
    let isDeleted = false
    started.keys.find = (hash) => (isDeleted ? undefined : find(hash))
    const socket = await openSocket(path, bearer)
    expect(await socket.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
    if (change === 'deleted') isDeleted = true
    else started.keys.add(key, { ...record, ...change })
    expect(await socket.closed).toEqual({ code: 1008, reason })
    await expect
      .poll(() => started.entries.at(-1))
      .toMatchObject({ event: 'webSocket', state: 'closed', code: 1008, reason })
    // The connection and one call: a check of an open connection is no request.
    expect(started.meter.counted.length).toBe(2)
  })

  test('closes when its key expires, and when its token does', async () => {
    const started = await openTenants()
    const key = await openSocket(started.addApp({ expiresAt: noon + 1_000 }).path)
    const token = await openSocket(started.addApp(record).path, bearer)
    const both = await openSocket(started.addApp().path)
    started.clock.now = noon + 1_000
    expect(await key.closed).toEqual({ code: 1008, reason: 'key_expired' })
    expect(token.ws.readyState).toBe(1)
    started.clock.now = noon + 600_000
    expect(await token.closed).toEqual({ code: 1008, reason: 'jwt_invalid' })
    expect(await both.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
  })

  test('stays open, with the new settings, if the change allows that', async () => {
    const started = await openTenants()
    const { path, key } = started.addApp(record)
    const socket = await openSocket(path, bearer)
    started.keys.add(key, { ...record, allow: compileAllowList({ methods: [{ value: 'eth_call' }] }) })
    await expect
      .poll(async () => (await socket.call('eth_gasPrice')).error?.data?.['reason'])
      .toBe('method_not_allowed')
    expect(await socket.call('eth_call')).toMatchObject({ result: '0x1' })
  })

  test('stays open while the key store fails and then closes with 1013', async () => {
    const started = await openTenants()
    const socket = await openSocket(started.addApp().path)
    started.keys.find = () => {
      throw new Error('the database is unreachable')
    }
    expect(await socket.closed).toEqual({ code: 1013, reason: 'key_store_unavailable' })
  })

  test('closes when a reload removes its network; others stay open', async () => {
    const started = await openTenants()
    const { path } = started.addApp()
    const testnet = await openSocket(path)
    const mainnet = await openSocket(path.replace('/testnet/', '/mainnet/'))
    const upstreams = [{ url: started.upstream.url }]
    await started.gateway.reload({ networks: { testnet: { chainId: 31_337, upstreams } } })
    expect(await mainnet.closed).toEqual({ code: 1008, reason: 'not_found' })
    expect(await testnet.call('eth_gasPrice')).toMatchObject({ result: '0x1' })
  })

  test('no key and no token is in a log entry or a close reason', async () => {
    const started = await openTenants()
    const { path, key } = started.addApp(record)
    const token = signToken(signer, { exp })
    const socket = await openSocket(path, {}, ['bearer', token])
    await socket.call('eth_gasPrice')
    started.keys.add(key, { ...record, status: 'revoked' })
    const { reason } = await socket.closed
    await expect.poll(() => started.entries.at(-1)).toMatchObject({ state: 'closed' })
    const text = JSON.stringify([started.entries, reason])
    for (const secret of [key, token, token.split('.')[2] ?? '']) expect(text).not.toContain(secret)
    expect(started.entries.filter(({ event }) => event === 'webSocket' || event === 'request').length).toBe(3)
  })
})
