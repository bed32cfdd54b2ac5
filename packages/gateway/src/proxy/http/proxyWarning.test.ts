import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { startGateway } from '../../../test/startGateway.ts'
import type { StartedGateway } from '../../../test/startGateway.ts'
import { getFreePort } from '../../../test/getFreePort.ts'
import { createService, parseServiceConfig, readServerSecrets } from '../../index.ts'
import type { ServiceLogEntry } from '../../service/serviceLog.ts'
import { createClientIp } from '../../lib/ip/clientIp.ts'
import { createProxyWarning } from './proxyWarning.ts'

const forwarded = { 'x-forwarded-for': '203.0.113.7' }

/** Gets the warnings for consecutive requests. */
const warningsFor = (
  requests: readonly { peer: string | undefined; headers?: IncomingHttpHeaders }[],
  trustedProxies: readonly string[] = [],
): string[] => {
  const warnings: string[] = []
  const clientIp = createClientIp(trustedProxies)
  const check = createProxyWarning({ warn: (what) => warnings.push(what) })
  for (const { peer, headers = forwarded } of requests) check({ headers, socket: { remoteAddress: peer } }, clientIp)
  return warnings
}

describe('a proxy that is not in trustedProxies', () => {
  test.each([
    ['127.0.0.1'],
    ['127.8.9.10'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['10.255.0.1'],
    ['172.16.0.1'],
    ['172.31.255.255'],
    ['192.168.1.1'],
    ['::ffff:10.1.2.3'],
    ['::FFFF:a01:203'],
    ['100.64.0.1'],
    ['100.127.255.254'],
    ['169.254.10.1'],
    ['fc00::1'],
    ['fd12:3456::7'],
    ['fe80::1'],
    ['febf::1'],
    ['fe80::1%eth0'],
    ['fec0::1'],
  ])('%s is reported once', (peer) => {
    const warnings = warningsFor([{ peer }, { peer }])
    expect(warnings).toHaveLength(1)
    const ip = peer.replace('%eth0', '')
    expect(warnings[0]).toContain(`X-Forwarded-For arrives from ${ip}, which is not in trustedProxies`)
    expect(warnings[0]).toContain(`"trustedProxies": ["${ip}"]`)
  })

  test.each([
    ['203.0.113.9'],
    ['8.8.8.8'],
    ['172.15.255.255'],
    ['172.32.0.1'],
    ['100.63.255.255'],
    ['100.128.0.1'],
    ['192.169.0.1'],
    ['169.253.1.1'],
    ['11.0.0.1'],
    ['126.0.0.1'],
    ['2001:db8::1'],
    ['::ffff:203.0.113.9'],
    ['ff02::1'],
    ['fbff::1'],
    [undefined],
    ['not an address'],
  ])('a caller from %s is ignored', (peer) => {
    expect(warningsFor([{ peer }])).toEqual([])
  })

  test('up to 16 proxies are reported', () => {
    const peers = Array.from({ length: 1_000 }, (_, index) => ({ peer: `10.0.${index >> 8}.${index & 255}` }))
    expect(warningsFor(peers)).toHaveLength(16)
  })

  test('the warning does not contain the value of the header', () => {
    const headers = { 'x-forwarded-for': 'kr_asecret, 203.0.113.7', forwarded: 'for=kr_asecret' }
    const [warning] = warningsFor([{ peer: '10.0.0.1', headers }])
    expect(warning).not.toMatch(/secret|203\.0/)
  })

  test.each([
    ['Forwarded', { forwarded: 'for=203.0.113.7' }],
    ['X-Real-IP', { 'x-real-ip': '203.0.113.7' }],
  ])('%s alone: the warning says that only X-Forwarded-For is read', (name, headers) => {
    const [warning] = warningsFor([{ peer: '10.0.0.1', headers }])
    expect(warning).toContain(`${name} arrives from 10.0.0.1`)
    expect(warning).toContain('send X-Forwarded-For')
  })

  test('an empty header counts', () => {
    expect(warningsFor([{ peer: '10.0.0.1', headers: { 'x-forwarded-for': '' } }])).toHaveLength(1)
  })
})

describe('no warning', () => {
  test('without a header', () => {
    expect(warningsFor([{ peer: '127.0.0.1', headers: { host: 'localhost' } }])).toEqual([])
  })

  test.each([['10.0.0.1'], ['::ffff:10.0.0.1'], ['fe80::7%eth0']])('for %s, which is trusted', (peer) => {
    expect(warningsFor([{ peer }], ['10.0.0.0/8', 'fe80::/10'])).toEqual([])
  })

  test('for a trusted proxy that sends X-Forwarded-For and others', () => {
    const headers = { ...forwarded, forwarded: 'for=203.0.113.7', 'x-real-ip': '203.0.113.7' }
    expect(warningsFor([{ peer: '10.0.0.1', headers }], ['10.0.0.1'])).toEqual([])
  })
})

test('a trusted proxy that sends a header other than X-Forwarded-For is reported too', () => {
  const [warning] = warningsFor([{ peer: '203.0.113.1', headers: { forwarded: 'for=192.0.2.7' } }], ['203.0.113.1'])
  expect(warning).toContain('send X-Forwarded-For')
})

describe('the warning is in the log', () => {
  let started: StartedGateway | undefined
  afterEach(async () => {
    await started?.gateway.close()
    started = undefined
  })
  const warningsIn = ({ entries }: StartedGateway): string[] =>
    entries.flatMap((entry) => (entry.event === 'warning' ? [entry.what] : []))

  test.each(['/healthz', '/testnet/v2/kr_unknown', '/api/session', '/'])('of the gateway, for %s', async (path) => {
    started = await startGateway({ testnet: ['http://127.0.0.1:9'] })
    for (let call = 0; call < 3; call++) await fetch(`${started.url}${path}`, { headers: forwarded })
    expect(warningsIn(started)).toEqual([expect.stringContaining('from 127.0.0.1, which is not in trustedProxies')])
  })

  test('except for a trusted proxy', async () => {
    started = await startGateway({ testnet: ['http://127.0.0.1:9'] }, { trustedProxies: ['127.0.0.1'] })
    await fetch(`${started.url}/healthz`, { headers: forwarded })
    expect(warningsIn(started)).toEqual([])
  })

  test('of the service, also for the control API on its own port', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
    const entries: ServiceLogEntry[] = []
    const service = await createService({
      config: parseServiceConfig({
        publicUrl: 'http://127.0.0.1:8080',
        listen: { port: 0 },
        control: { publicUrl: 'http://127.0.0.1:8081', listen: { port: await getFreePort() } },
        networks: {
          testnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:9' }] },
          mainnet: { chainId: 2, upstreams: [{ url: 'http://127.0.0.1:9' }] },
        },
      }),
      secrets: readServerSecrets({ KEYRAIL_SECRET: 'x'.repeat(32) }),
      storage: { file: join(folder, 'keyrail.db') },
      log: (entry) => entries.push(entry),
    })
    await service.listen()
    const control = entries.find(({ event }) => event === 'controlListening') as { port: number }
    await fetch(`http://127.0.0.1:${control.port}/api/session`, { headers: forwarded })
    await service.close({ graceMs: 0 })
    rmSync(folder, { recursive: true, force: true })
    expect(entries.filter(({ event }) => event === 'warning')).toMatchObject([
      { what: expect.stringContaining('failed log-ins lock out everyone') },
    ])
  })
})
