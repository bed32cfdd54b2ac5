import { describe, expect, test } from 'vitest'
import { parseServiceConfig } from './parseServiceConfig.ts'
import { planReload } from './runningConfig.ts'
import type { ServiceConfigInput } from './serviceConfig.ts'

const input: ServiceConfigInput = {
  publicUrl: 'https://rpc.example.org',
  listen: { port: 1 },
  storage: { file: 'one.db' },
  networks: {
    testnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:1' }] },
    mainnet: { chainId: 2, upstreams: [{ url: 'http://127.0.0.1:2' }] },
  },
}
const createConfig = (members: Partial<ServiceConfigInput>) => parseServiceConfig({ ...input, ...members })

const tls = { certFile: 'cert.pem', keyFile: 'key.pem' }
const control = { publicUrl: 'https://site.example.org', listen: { port: 3 } }

describe('planReload', () => {
  test('applies members that a running service can change', () => {
    const changed = createConfig({ signUp: 'open', logRequests: false, publicUrl: 'https://other.example.org' })
    expect(planReload(createConfig({}), changed)).toEqual({ next: changed, needsRestart: [] })
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
    ['cache', {}, { cache: { file: 'cache.db' } }],
    ['cache', { cache: { file: 'cache.db' } }, {}],
    ['outageGrant', {}, { outageGrant: 7 }],
    ['retention', {}, { retention: { hoursDays: 91 } }],
    ['staleKeysForMs', {}, { staleKeysForMs: 1 }],
  ])('keeps the current %s, and reports it each time', (name, before, members) => {
    const config = createConfig(before)
    const changed = createConfig(members)
    const { next, needsRestart } = planReload(config, changed)
    expect(needsRestart).toEqual([name])
    expect(next).toEqual(config)
    expect(planReload(next, changed).needsRestart).toEqual([name])
  })

  test('applies other certificate files, and another URL of the control port', () => {
    const changed = createConfig({
      tls: { ...tls, certFile: 'other.pem' },
      control: { ...control, publicUrl: 'https://new.example.org' },
    })
    expect(planReload(createConfig({ tls, control }), changed)).toEqual({ next: changed, needsRestart: [] })
  })
})
