import { describe, expect, test } from 'vitest'
import { createApiKey } from '../../src/index.ts'
import type { TestOptions } from '../createTestGateway.ts'
import { post } from '../startGateway.ts'
import { call, summarize, openTenants } from './startTenants.ts'
import type { StartedTenants } from './startTenants.ts'

const start = (options: Partial<TestOptions> = {}): Promise<StartedTenants> =>
  openTenants({ unknownKeys: { perSecond: 1, burst: 3 }, ...options })
const read = call('eth_gasPrice')
const from = (forwarded: string): RequestInit => ({
  headers: { 'content-type': 'application/json', 'x-forwarded-for': forwarded },
})

describe('unknown keys', () => {
  test('get 401 up to a limit and then 429 with the time to wait, which never affects a valid key', async () => {
    const { url, addApiKey } = await start()
    const { path } = addApiKey()
    const guess = (): Promise<{ status: number; headers: Headers; text: string }> =>
      post(`${url}/testnet/${createApiKey('testnet')}`, read)
    for (let time = 0; time < 3; time += 1) expect(summarize(await guess())).toEqual([401, 'key_unknown'])
    const limited = await guess()
    expect([limited.status, JSON.parse(limited.text)]).toMatchObject([
      429,
      {
        error: {
          code: -32016,
          message: 'Invalid API key; too many invalid keys from this IP',
          data: { reason: 'key_unknown_limited' },
        },
      },
    ])
    expect(limited.headers.get('retry-after')).toMatch(/GMT$/)
    expect(summarize(await post(`${url}/testnet/none`, read))).toEqual([429, 'key_unknown_limited'])
    for (let time = 0; time < 5; time += 1) expect(summarize(await post(path, read))).toEqual([200, '0x1'])
  })

  test('are limited by the IP that a trusted proxy forwards, IPv6 by the /64', async () => {
    const { url } = await start({ trustedProxies: ['127.0.0.1'] })
    const guess = async (forwarded: string): Promise<unknown> =>
      summarize(await post(`${url}/testnet/none`, read, from(forwarded)))
    for (let time = 0; time < 3; time += 1) expect(await guess('203.0.113.1')).toEqual([401, 'key_unknown'])
    expect(await guess('6.6.6.6, 203.0.113.1')).toEqual([429, 'key_unknown_limited'])
    expect(await guess('203.0.113.2')).toEqual([401, 'key_unknown'])
    for (let time = 0; time < 3; time += 1) expect(await guess(`2001:db8:0:7::${time}`)).toEqual([401, 'key_unknown'])
    expect(await guess('2001:db8:0:7:ffff::1')).toEqual([429, 'key_unknown_limited'])
    expect(await guess('2001:db8:0:8::1')).toEqual([401, 'key_unknown'])
  })

  test('have a limit that a reload does not reset', async () => {
    const { url, gateway, upstream } = await start()
    for (let time = 0; time < 3; time += 1) await post(`${url}/testnet/none`, read)
    const networks = {
      testnet: { chainId: 31_337, upstreams: [{ url: upstream.url }] },
      mainnet: { chainId: 1, upstreams: [{ url: upstream.url }] },
    }
    await gateway.reload({ networks })
    expect(summarize(await post(`${url}/testnet/none`, read))).toEqual([429, 'key_unknown_limited'])
  })

  test('have a limit that rejected known keys do not use', async () => {
    const { url, addApiKey } = await start()
    const { path } = addApiKey({ status: 'revoked' })
    for (let time = 0; time < 5; time += 1) expect(summarize(await post(path, read))).toEqual([401, 'key_revoked'])
    expect(summarize(await post(`${url}/testnet/none`, read))).toEqual([401, 'key_unknown'])
  })
})

test('a key in the query string is ignored', async () => {
  const { url, addApiKey } = await start()
  const { key } = addApiKey()
  for (const path of [`/testnet?key=${key}`, `/testnet/?${key}`, `/testnet/none?apiKey=${key}`])
    expect(summarize(await post(url + path, read))).toEqual([401, 'key_unknown'])
})
