import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { configJsonSchema } from './configJsonSchema.ts'
import { isConfigError } from './configError.ts'
import { parseServiceConfig } from './parseServiceConfig.ts'
import { readServerSecrets } from './readServerSecrets.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import type { ServiceConfigInput } from './serviceConfig.ts'
import { toStorageConfig } from './toStorageConfig.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const node = { chainId: 1, upstreams: [{ url: 'http://user:hunter22@10.0.0.5:8545/topsecret' }] }
const least: ServiceConfigInput = {
  publicUrl: 'https://rpc.example.org',
  chain: { name: 'Ethereum', symbol: 'ETH' },
  networks: { testnet: node, mainnet: node },
}

/** What is wrong, as one reads it. */
const faultsOf = (make: () => unknown): string[] => {
  try {
    make()
  } catch (error) {
    if (isConfigError(error)) return error.faults.map(({ path, fix }) => `${path} ${fix}`)
    throw error
  }
  return []
}

describe('a config', () => {
  test('has defaults for all but where it is, its chain and its nodes', () => {
    expect(parseServiceConfig(least)).toMatchObject({
      listen: { host: '127.0.0.1', port: 8080 },
      signUp: 'closed',
      reveal: 'onDemand',
      services: { debug: false, trace: false, javascriptTracers: false },
      limits: {
        apiKeys: { perSecond: 1_000, burst: 10_000, perDay: 25_000, perMonth: null },
        apps: { perSecond: 100, burst: 1_000, perDay: 100_000, perMonth: 3_000_000 },
        appsPerUser: 20,
      },
      quotaStatus: 403,
      outageGrant: 500,
      retention: { minutesDays: 8, hoursDays: 90, daysDays: 730 },
      trustedProxies: [],
    })
  })

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'the config must be an object with $schema, publicUrl'],
    ['a list', [], 'the config must be an object'],
    ['no networks', { ...least, networks: undefined }, 'networks must be an object with testnet, mainnet'],
    [
      'a misspelt name',
      { ...least, signup: 'open' },
      "the config has 'signup', which is not known; known are $schema, publicUrl",
    ],
    [
      'a URL for a name',
      { ...least, 'https://topsecret': 1 },
      'has something that looks like no name, which is not known',
    ],
    [
      'a public URL with a query',
      { ...least, publicUrl: 'https://a.example/?k=topsecret' },
      'publicUrl must have no query',
    ],
    ['a public URL of files', { ...least, publicUrl: 'file:///topsecret' }, 'publicUrl must be the http or https URL'],
    ['no public URL', { ...least, publicUrl: undefined }, 'publicUrl is missing: must be the http'],
    [
      'an upstream without a URL',
      { ...least, networks: { ...least.networks, mainnet: { chainId: 1, upstreams: [{}] } } },
      'networks.mainnet.upstreams[0] must have one of url, urlEnv and urlFile',
    ],
    [
      'a wrong upstream',
      { ...least, networks: { ...least.networks, mainnet: { chainId: 1, upstreams: [{ url: 'topsecret' }] } } },
      'networks.mainnet.upstreams[0].url must be the http or https URL of a node',
    ],
    [
      'no upstream',
      { ...least, networks: { ...least.networks, testnet: { chainId: 1, upstreams: [] } } },
      'networks.testnet.upstreams must be a list of at least one node',
    ],
    [
      'a chain id as text',
      { ...least, networks: { ...least.networks, testnet: { ...node, chainId: '0x1' } } },
      'networks.testnet.chainId must be a whole number from 1',
    ],
    ['a wrong sign-up mode', { ...least, signUp: 'topsecret' }, 'signUp must be "open" or "invite" or "closed"'],
    ['a limit below one', { ...least, limits: { apps: { perDay: 0 } } }, 'limits.apps.perDay must be a whole number'],
    ['a wrong port', { ...least, listen: { port: 70_000 } }, 'listen.port must be a whole number from 0 to 65535'],
    ['a wrong status', { ...least, quotaStatus: 402 }, 'quotaStatus must be 403 or 429'],
    [
      'a wrong proxy',
      { ...least, trustedProxies: ['10.0.0.1', 'topsecret'] },
      'trustedProxies[1] is not an IP address',
    ],
    ['a blank name', { ...least, chain: { name: ' ', symbol: 'ETH' } }, 'chain.name must be the name of the chain'],
  ])('%s is rejected by name, without its value', (_what, given, fault) => {
    const faults = faultsOf(() => parseServiceConfig(given))
    expect(faults.join('\n')).toContain(fault)
    expect(faults.join('\n')).not.toContain('topsecret')
  })

  test('all faults are told at once', () => {
    expect(faultsOf(() => parseServiceConfig({ ...least, signUp: 1, quotaStatus: 1, reveal: 1 }))).toHaveLength(3)
  })
})

describe('a config file', () => {
  const write = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }

  test('its paths are meant from its own folder, and URLs come from where it says', () => {
    write('node-url', 'http://10.0.0.9:8545/topsecret\n')
    const file = write(
      'paths.json',
      JSON.stringify({
        ...least,
        storage: { file: 'data/keyrail.db' },
        networks: {
          testnet: { chainId: 1, upstreams: [{ urlFile: 'node-url', name: 'one' }] },
          mainnet: { chainId: 2, upstreams: [{ urlEnv: 'NODE_URL' }] },
        },
      }),
    )
    const config = readServiceConfig(file, { environment: { NODE_URL: 'http://10.0.0.8:8545' } })
    expect(config.storage).toEqual({ file: join(folder, 'data/keyrail.db') })
    expect(config.networks.testnet.upstreams).toEqual([{ name: 'one', url: 'http://10.0.0.9:8545/topsecret' }])
    expect(config.networks.mainnet.upstreams).toEqual([{ url: 'http://10.0.0.8:8545' }])
    expect(faultsOf(() => readServiceConfig(file, { environment: {} }))).toEqual([
      'networks.mainnet.upstreams[0].urlEnv names the environment variable NODE_URL, which is not set: set it, or leave this upstream out',
    ])
    const misplaced = write('misplaced.json', readFileSync(file, 'utf8').replace('NODE_URL', 'http://topsecret'))
    expect(faultsOf(() => readServiceConfig(misplaced, { environment: {} }))).toEqual([
      'networks.mainnet.upstreams[0].urlEnv names an environment variable, which is not set: set it, or leave this upstream out',
    ])
    expect(faultsOf(() => readServiceConfig(file, { environment: { NODE_URL: 'topsecret' } }))).toEqual([
      'networks.mainnet.upstreams[0] leads to what is not an http or https URL',
    ])
  })

  test('that is not JSON is told by its place, and not quoted', () => {
    const file = write('broken.json', '{\n  "publicUrl": topsecret\n}')
    const faults = faultsOf(() => readServiceConfig(file))
    expect(faults[0]).toMatch(/^the config is not JSON.*: it takes no comments/)
    expect(faults[0]).not.toContain('topsecret')
    expect(faultsOf(() => readServiceConfig(join(folder, 'none.json')))).toEqual([
      `the config is not there: ${join(folder, 'none.json')}`,
    ])
  })
})

describe('the secret', () => {
  const long = 'x'.repeat(40)

  test('is read from the environment or a file, the newest first', () => {
    expect(readServerSecrets({ KEYRAIL_SECRET: long }).map(({ version }) => version)).toEqual([1])
    const file = join(folder, 'secret')
    writeFileSync(file, `1:${long}\n12:${long}y\n`)
    expect(readServerSecrets({ KEYRAIL_SECRET_FILE: file }).map(({ version }) => version)).toEqual([12, 1])
  })

  test.each<[string, Record<string, string>, string]>([
    ['none', {}, 'KEYRAIL_SECRET is missing'],
    ['an empty one', { KEYRAIL_SECRET: '' }, 'KEYRAIL_SECRET is missing'],
    ['both', { KEYRAIL_SECRET: long, KEYRAIL_SECRET_FILE: 'x' }, 'both set'],
    ['a short one', { KEYRAIL_SECRET: 'topsecret' }, 'at least 32 characters'],
    ['two of one version', { KEYRAIL_SECRET: `${long} ${long}` }, 'two secrets of one version'],
    ['a version too high', { KEYRAIL_SECRET: `300:${long}` }, 'from 1 to 255'],
    ['a file that is not there', { KEYRAIL_SECRET_FILE: join(folder, 'nothing') }, 'cannot be read: ENOENT'],
  ])('%s is rejected, without being repeated', (_what, environment, fault) => {
    const faults = faultsOf(() => readServerSecrets(environment)).join('\n')
    expect(faults).toContain(fault)
    expect(faults).not.toMatch(/topsecret|xxxx/)
  })
})

test('storage is the database of the environment, else the file of the config, else a fault', () => {
  const storage = { file: '/var/lib/keyrail.db' }
  expect(toStorageConfig({ storage }, { DATABASE_URL: 'postgres://a' })).toEqual({ databaseUrl: 'postgres://a' })
  expect(toStorageConfig({ storage }, {})).toEqual(storage)
  expect(faultsOf(() => toStorageConfig({ storage: undefined }, {}))[0]).toContain('DATABASE_URL')
})

test('the schema for editors names every member, and asks for those without a default alone', () => {
  const { properties, required } = configJsonSchema() as { properties: Record<string, object>; required: string[] }
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(parseServiceConfig(least))))
  expect(required.toSorted()).toEqual(['chain', 'networks', 'publicUrl'])
})
