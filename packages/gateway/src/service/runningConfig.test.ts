import { describe, expect, test } from 'vitest'
import { parseServiceConfig } from './parseServiceConfig.ts'
import { nextConfig } from './runningConfig.ts'
import type { ServiceConfigInput } from './serviceConfig.ts'

const input: ServiceConfigInput = {
  publicUrl: 'https://rpc.example.org',
  listen: { port: 1 },
  storage: { file: 'one.db' },
  chain: { name: 'Testland', symbol: 'TST' },
  networks: {
    testnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:1' }] },
    mainnet: { chainId: 2, upstreams: [{ url: 'http://127.0.0.1:2' }] },
  },
}
const configOf = (members: Partial<ServiceConfigInput>) => parseServiceConfig({ ...input, ...members })

const tls = { certFile: 'cert.pem', keyFile: 'key.pem' }
const control = { publicUrl: 'https://site.example.org', listen: { port: 3 } }

describe('nextConfig', () => {
  test('takes what a running service can change', () => {
    const given = configOf({ signUp: 'open', logRequests: false, publicUrl: 'https://other.example.org' })
    expect(nextConfig(configOf({}), given)).toEqual({ next: given, needsRestart: [] })
  })

  test.each<[string, Partial<ServiceConfigInput>, Partial<ServiceConfigInput>]>([
    ['listen', {}, { listen: { port: 2 } }],
    ['control.listen', { control }, { control: { ...control, listen: { port: 4 } } }],
    ['control.listen', {}, { control }],
    ['control.listen', { control }, {}],
    ['tls', {}, { tls }],
    ['tls', { tls }, {}],
    ['prometheus', {}, { prometheus: { port: 9 } }],
    ['prometheus', { prometheus: { port: 9 } }, {}],
    ['storage', {}, { storage: { file: 'other.db' } }],
    ['outageGrant', {}, { outageGrant: 7 }],
    ['retention', {}, { retention: { hoursDays: 91 } }],
    ['staleKeysForMs', {}, { staleKeysForMs: 1 }],
  ])('keeps %s as it was, and names it each time', (name, before, members) => {
    const config = configOf(before)
    const given = configOf(members)
    const { next, needsRestart } = nextConfig(config, given)
    expect(needsRestart).toEqual([name])
    expect(next).toEqual(config)
    expect(nextConfig(next, given).needsRestart).toEqual([name])
  })

  test('takes other files of a certificate, and another address of the control port', () => {
    const given = configOf({
      tls: { ...tls, certFile: 'other.pem' },
      control: { ...control, publicUrl: 'https://new.example.org' },
    })
    expect(nextConfig(configOf({ tls, control }), given)).toEqual({ next: given, needsRestart: [] })
  })
})
