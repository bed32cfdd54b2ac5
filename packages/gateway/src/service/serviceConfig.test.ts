import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

import { formatFault, isConfigError } from './configError.ts'
import { parseServiceConfig } from './parseServiceConfig.ts'
import { readServerSecrets } from './readServerSecrets.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import { configJsonSchema } from './configJsonSchema.ts'
import type { ServiceConfigInput } from './serviceConfig.ts'
import { toStorageOptions } from './serviceEnvironment.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const node = { chainId: 1, upstreams: [{ url: 'http://user:hunter22@10.0.0.5:8545/topsecret' }] }
const minimal: ServiceConfigInput = {
  publicUrl: 'https://rpc.example.org',
  networks: { testnet: node, mainnet: node },
}

/** A config whose mainnet has one upstream with these options. */
const onMainnet = (upstream: object): object => ({
  ...minimal,
  networks: { ...minimal.networks, mainnet: { chainId: 1, upstreams: [upstream] } },
})

/** The faults of a config error, as text. */
const getFaults = (make: () => unknown): string[] => {
  try {
    make()
  } catch (error) {
    if (isConfigError(error)) return error.faults.map(formatFault)
    throw error
  }
  return []
}

describe('parseServiceConfig', () => {
  test('has defaults for everything except publicUrl and networks', () => {
    expect(parseServiceConfig(minimal)).toMatchObject({
      listen: { host: '127.0.0.1', port: 8080 },
      signUp: 'closed',
      reveal: 'onDemand',
      registries: {},
      services: { debug: false, trace: false, txpool: false, javascriptTracers: false },
      limits: {
        apiKeys: { perSecond: 1_000, burst: 10_000, perDay: 25_000, perMonth: null },
        apps: { perSecond: 100, burst: 1_000, perDay: 100_000, perMonth: 3_000_000 },
        appsPerUser: 20,
      },
      cacheHeader: true,
      compression: true,
      quotaStatus: 403,
      outageGrant: 500,
      retention: { minutesDays: 8, hoursDays: 90, daysDays: 730 },
      trustedProxies: [],
    })
  })

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'the config must be an object with the members $schema, publicUrl'],
    ['a list', [], 'the config must be an object'],
    [
      'no networks',
      { ...minimal, networks: undefined },
      'networks is missing: it must be an object with a network for each name',
    ],
    [
      'a misspelt name',
      { ...minimal, signup: 'open' },
      'the config has an unknown member "signup": did you mean "signUp"?',
    ],
    [
      'a name like no other',
      { ...minimal, zebra: 'open' },
      'the config has an unknown member "zebra": the known members are $schema, publicUrl',
    ],
    [
      'a URL as a name',
      { ...minimal, 'https://topsecret': 1 },
      'has an unknown member (name hidden): the known members are',
    ],
    [
      'a public URL with a query',
      { ...minimal, publicUrl: 'https://a.example/?k=topsecret' },
      'publicUrl must have no query',
    ],
    [
      'a file URL as the public URL',
      { ...minimal, publicUrl: 'file:///topsecret' },
      'publicUrl must be the http or https URL',
    ],
    [
      'a file URL as the docs URL',
      { ...minimal, docsUrl: 'file:///topsecret' },
      'docsUrl must be the http or https URL',
    ],
    ['a public URL with a path', { ...minimal, publicUrl: 'https://example.org/rpc' }, 'publicUrl must have no path'],
    [
      'a public URL with a path that ends with a slash',
      { ...minimal, publicUrl: 'https://example.org/rpc/' },
      'publicUrl must have no path',
    ],
    [
      'a public URL with an encoded path',
      { ...minimal, publicUrl: 'https://example.org/%2e%2e/rpc' },
      'publicUrl must have no path',
    ],
    [
      'a public URL of the dashboard with a path',
      { ...minimal, control: { publicUrl: 'https://example.org/admin', listen: { port: 1 } } },
      'control.publicUrl must have no path, because the dashboard works only at the root of a host. Give the service a host name of its own',
    ],
    ['no public URL', { ...minimal, publicUrl: undefined }, 'publicUrl is missing: it must be the http'],
    [
      'an upstream without a URL',
      { ...minimal, networks: { ...minimal.networks, mainnet: { chainId: 1, upstreams: [{}] } } },
      'networks.mainnet.upstreams[0] must have exactly one of url, urlEnv, urlFile and vendor',
    ],
    [
      'a wrong upstream',
      { ...minimal, networks: { ...minimal.networks, mainnet: { chainId: 1, upstreams: [{ url: 'topsecret' }] } } },
      'networks.mainnet.upstreams[0].url must be the http or https URL of a node',
    ],
    [
      'a WebSocket URL that is not one',
      onMainnet({ url: 'http://a', wsUrl: 'https://topsecret' }),
      'networks.mainnet.upstreams[0].wsUrl must be the ws or wss URL of a node',
    ],
    [
      'two WebSocket URLs',
      onMainnet({ url: 'http://a', wsUrl: 'wss://topsecret', wsUrlEnv: 'topsecret' }),
      'networks.mainnet.upstreams[0] must have at most one of wsUrl, wsUrlEnv and wsUrlFile',
    ],
    [
      'no upstream',
      { ...minimal, networks: { ...minimal.networks, testnet: { chainId: 1, upstreams: [] } } },
      'networks.testnet.upstreams must be a list of at least one node',
    ],
    [
      'a chain id that is a string',
      { ...minimal, networks: { ...minimal.networks, testnet: { ...node, chainId: '0x1' } } },
      'networks.testnet.chainId must be a whole number from 1',
    ],
    ...(
      [
        ['a name twice', { name: 'testnet-1' }, '[1].name is the name of another upstream of this network'],
        ['a price without cost', { unitPrice: 2 }, '[1].unitPrice only works with "loadBalancing": "cost"'],
        ['a weight without spread', { weight: 2 }, '[1].weight only works with "loadBalancing": "spread"'],
        ['a weight below 0', { weight: -1 }, '[1].weight must be a number from 0 to 1000'],
        ['a budget of 0', { maxRequestsPerDay: 0 }, '[1].maxRequestsPerDay must be a whole number from 1'],
        ['a misspelt method', { denyMethods: ['eth_getLog'] }, '[1].denyMethods[0] has an unknown method "eth_getLog"'],
        ['a secret as a method', { allowMethods: ['http://topsecret'] }, 'has an unknown method (name hidden)'],
        ['a reserved header', { headers: { 'Content-Length': '1' } }, '[1].headers must not have "content-length"'],
        [
          'a header with a line break',
          { headers: { 'x-k': 'topsecret\n' } },
          '[1].headers has a wrong value for "x-k"',
        ],
        ['a secret as a header', { headers: { topsecret1: 'a\n' } }, 'has a wrong value for a header (name hidden)'],
        ['a header that is a number', { headers: { topsecret1: 1 } }, '[1].headers'],
      ] as const
    ).map(([what, change, fault]): [string, unknown, string] => [
      `an upstream with ${what}`,
      {
        ...minimal,
        networks: {
          ...minimal.networks,
          testnet: { ...node, upstreams: [...node.upstreams, { url: 'http://a', ...change }] },
        },
      },
      fault,
    ]),
    [
      'a wrong hedgeMs',
      { ...minimal, networks: { ...minimal.networks, testnet: { ...node, hedgeMs: 'p99' } } },
      'networks.testnet.hedgeMs must be a whole number from 1 to 60000, or "p95"',
    ],
    ...(
      [
        [
          'a method that nodes cannot agree on',
          { methods: ['eth_gasPrice'] },
          '.methods[0] has eth_gasPrice, which nodes',
        ],
        ['a write', { methods: ['eth_sendRawTransaction'] }, '.methods[0] has eth_sendRawTransaction, which nodes'],
        ['a misspelt method', { methods: ['eth_cal'] }, '.methods[0] has an unknown method "eth_cal"'],
        ['no method', { methods: [] }, '.methods must be a list of methods, such as ["eth_call", "eth_getLogs"]'],
        ['one node', { methods: ['eth_call'], nodes: 1 }, '.nodes must be a whole number from 2 to 10'],
        ['an unknown reaction', { methods: ['eth_call'], onFew: 'retry' }, '.onFew must be "error" or "serve"'],
      ] as const
    ).map(([what, rule, fault]): [string, unknown, string] => [
      `a rule of confirmed reads with ${what}`,
      { ...minimal, networks: { ...minimal.networks, testnet: { ...node, confirm: [rule] } } },
      `networks.testnet.confirm[0]${fault}`,
    ]),
    [
      'two rules for a method',
      {
        ...minimal,
        networks: { testnet: { ...node, confirm: [{ methods: ['eth_call'] }, { methods: ['eth_call'], nodes: 3 }] } },
      },
      'networks.testnet.confirm must have each method in one rule only',
    ],
    [
      'a chain store that is confirmed by nodes of one group',
      {
        ...minimal,
        cache: { file: 'cache.db', confirm: true },
        networks: {
          testnet: {
            ...node,
            upstreams: [
              { url: 'https://a.example/1' },
              { url: 'https://a.example/2' },
              { url: 'https://b.example', privateTransactions: true },
            ],
          },
          mainnet: { chainId: 1, upstreams: [{ url: 'https://a.example' }], cache: false },
          other: { chainId: 2, upstreams: [{ url: 'https://a.example' }, { url: 'https://b.example' }] },
        },
      },
      'networks.testnet.upstreams must have nodes of two groups, because cache.confirm is true and nothing of one group is stored: add a node, or set networks.testnet.cache to false',
    ],
    [
      'a longer timeout for headers than for requests',
      { ...minimal, bounds: { headersTimeoutMs: 2, requestTimeoutMs: 1 } },
      'bounds.headersTimeoutMs must be at most requestTimeoutMs, which includes it',
    ],
    [
      'a ping interval of half a second',
      { ...minimal, webSocket: { pingMs: 500 } },
      'webSocket.pingMs must be a whole number from 1000 to 2147483647',
    ],
    ['a wrong sign-up mode', { ...minimal, signUp: 'topsecret' }, 'signUp must be "open" or "invite" or "closed"'],
    ['a limit below one', { ...minimal, limits: { apps: { perDay: 0 } } }, 'limits.apps.perDay must be a whole number'],
    ['a wrong port', { ...minimal, listen: { port: 70_000 } }, 'listen.port must be a whole number from 0 to 65535'],
    ['a wrong status', { ...minimal, quotaStatus: 402 }, 'quotaStatus must be 403 or 429'],
    ['a wrong proxy', { ...minimal, trustedProxies: ['10.0.0.1', 'topsecret'] }, 'trustedProxies[1] '],
    [
      'a misspelt method',
      { ...minimal, limits: { weights: { eth_getLog: 75 } } },
      'limits.weights has an unknown method "eth_getLog": did you mean "eth_getLogs"?',
    ],
    [
      'a URL as a method',
      { ...minimal, limits: { weights: { 'https://topsecret': 0 } } },
      'limits.weights has an unknown method (name hidden): use full names, such as "eth_getLogs"',
    ],
    [
      'a weight of 0',
      { ...minimal, limits: { weights: { eth_getLogs: 0 } } },
      'limits.weights.eth_getLogs must be a whole number from 1 to 1000000',
    ],
    [
      'a list of weights',
      { ...minimal, limits: { weights: [] } },
      'limits.weights must be an object with a whole number for each method',
    ],
    [
      'a weight above the default burst of apps',
      { ...minimal, limits: { weights: { eth_getLogs: 1_001 } } },
      'limits.weights.eth_getLogs must be at most 1000, which is limits.apps.burst, because a call above the burst is never granted: lower the weight, or raise the burst',
    ],
    [
      'a weight above the burst of API keys',
      { ...minimal, limits: { apiKeys: { burst: 74 }, weights: { eth_getLogs: 75, eth_call: 74 } } },
      'limits.weights.eth_getLogs must be at most 74, which is limits.apiKeys.burst',
    ],
    ...(
      [
        [
          { limits: { perDay: 5 } },
          'limits has an unknown member "perDay": perDay belongs in the limits of the config, because a quota counts calls to all networks',
        ],
        [
          { limits: { apps: { perMonth: 5 } } },
          'limits.apps has an unknown member "perMonth": perMonth belongs in the limits of the config',
        ],
        [
          { limits: { perSecond: 5 } },
          'limits has an unknown member "perSecond": perSecond belongs in apps, apiKeys or both',
        ],
        [
          { limits: { appsPerUser: 5 } },
          'limits has an unknown member "appsPerUser": appsPerUser belongs in the limits of the config',
        ],
        [
          { limits: { maxBatchCalls: 5 } },
          'limits has an unknown member "maxBatchCalls": maxBatchCalls belongs in the bounds of the network',
        ],
        [
          { bounds: { maxBodyBytes: 5 } },
          'bounds has an unknown member "maxBodyBytes": maxBodyBytes belongs in the bounds of the config, because it holds for all networks',
        ],
        [{ bounds: { maxBatchCalls: 0 } }, 'bounds.maxBatchCalls must be a whole number from 1 to 100000'],
        [{ limits: { apps: { burst: 0 } } }, 'limits.apps.burst must be a whole number from 1 to 100000'],
        [{ limits: { weights: { eth_getLog: 5 } } }, 'limits.weights has an unknown method "eth_getLog"'],
        [
          { limits: { apps: { burst: 20 }, weights: { eth_getLogs: 21 } } },
          'limits counts eth_getLogs as 21, above the burst of apps there, which is 20. A call above the burst is never granted: set a lower weight or a higher burst for this network',
        ],
        [
          { limits: { weights: { eth_call: 10_001 } } },
          'limits counts eth_call as 10001, above the burst of apiKeys there, which is 10000',
        ],
      ] as const
    ).map(([change, fault]): [string, unknown, string] => [
      `a network with ${JSON.stringify(change)}`,
      { ...minimal, networks: { ...minimal.networks, testnet: { ...node, ...change } } },
      `networks.testnet.${fault}`,
    ]),
    [
      'a blank title',
      { ...minimal, chains: { ethereum: { title: ' ' } } },
      'chains.ethereum.title must be the name of the chain',
    ],
  ])('rejects %s, without repeating its value', (_what, input, fault) => {
    const faults = getFaults(() => parseServiceConfig(input))
    expect(faults.join('\n')).toContain(fault)
    expect(faults.join('\n')).not.toContain('topsecret')
  })

  test('accepts weights up to the burst', () => {
    const weights = { eth_getLogs: 75, debug_traceTransaction: 1 }
    const limits = { apiKeys: { burst: 75 }, apps: { burst: 75 }, weights }
    expect(parseServiceConfig({ ...minimal, limits }).limits).toMatchObject(limits)
    expect(parseServiceConfig(minimal).limits.weights).toEqual({})
  })

  test("checks the config's weights against a network's burst", () => {
    const networks = { ...minimal.networks, testnet: { ...node, limits: { apiKeys: { burst: 74 } } } }
    const limits = { weights: { eth_getLogs: 75 } }
    expect(getFaults(() => parseServiceConfig({ ...minimal, networks, limits }))).toEqual([
      expect.stringContaining(
        'networks.testnet.limits counts eth_getLogs as 75, above the burst of apiKeys there, which is 74',
      ),
    ])
    const own = { ...node, limits: { apiKeys: { burst: 74 }, weights: { eth_getLogs: 74 } } }
    expect(getFaults(() => parseServiceConfig({ ...minimal, networks: { testnet: own }, limits }))).toEqual([])
  })

  test('reports all faults at once', () => {
    expect(getFaults(() => parseServiceConfig({ ...minimal, signUp: 1, quotaStatus: 1, reveal: 1 }))).toHaveLength(3)
  })
})

describe('readServiceConfig', () => {
  const write = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }

  test('finds nodes of one group by their URLs in variables', () => {
    const upstreams = [{ urlEnv: 'NODE_URL' }, { urlEnv: 'OTHER_URL' }]
    const cache = { file: 'cache.db', confirm: true }
    const file = write(
      'groups.json',
      JSON.stringify({ ...minimal, cache, networks: { testnet: { ...node, upstreams } } }),
    )
    const read = (other: string) =>
      readServiceConfig(file, { environment: { NODE_URL: 'https://a.example/1', OTHER_URL: other } })
    expect(read('https://b.example/1').cache?.confirm).toBe(true)
    expect(getFaults(() => read('https://a.example/2'))).toEqual([
      expect.stringContaining('networks.testnet.upstreams must have nodes of two groups'),
    ])
  })

  test('resolves paths from the folder of the file, and reads the URLs of upstreams', () => {
    write('node-url', 'http://10.0.0.9:8545/topsecret\n')
    write('node-ws-url', 'wss://10.0.0.9:8546/topsecret\n')
    const file = write(
      'paths.json',
      JSON.stringify({
        ...minimal,
        storage: { file: 'data/keyrail.db' },
        networks: {
          testnet: { chainId: 1, upstreams: [{ urlFile: 'node-url', wsUrlFile: 'node-ws-url', name: 'one' }] },
          mainnet: { chainId: 2, upstreams: [{ urlEnv: 'NODE_URL', wsUrlEnv: 'NODE_WS_URL' }] },
        },
      }),
    )
    const environment = { NODE_URL: 'http://10.0.0.8:8545', NODE_WS_URL: 'ws://10.0.0.8:8546' }
    const config = readServiceConfig(file, { environment })
    expect(config.storage).toEqual({ file: join(folder, 'data/keyrail.db') })
    expect(config.networks['testnet']?.upstreams).toMatchObject([
      { name: 'one', url: 'http://10.0.0.9:8545/topsecret', wsUrl: 'wss://10.0.0.9:8546/topsecret' },
    ])
    expect(config.networks['mainnet']?.upstreams).toMatchObject([
      { url: 'http://10.0.0.8:8545', wsUrl: 'ws://10.0.0.8:8546' },
    ])
    expect(getFaults(() => readServiceConfig(file, { environment: {} }))).toEqual([
      'networks.mainnet.upstreams[0].urlEnv names the environment variable NODE_URL, which is not set: set it or remove this upstream',
    ])
    const misplaced = write('misplaced.json', readFileSync(file, 'utf8').replace('NODE_URL', 'http://topsecret'))
    expect(getFaults(() => readServiceConfig(misplaced, { environment: {} }))).toEqual([
      'networks.mainnet.upstreams[0].urlEnv names an environment variable, which is not set: set it or remove this upstream',
    ])
    expect(getFaults(() => readServiceConfig(file, { environment: { NODE_URL: 'topsecret' } }))).toEqual([
      'networks.mainnet.upstreams[0].urlEnv names the environment variable NODE_URL, which holds no http or https URL: put the URL of a node there',
    ])
    expect(
      getFaults(() => readServiceConfig(file, { environment: { ...environment, NODE_WS_URL: 'https://topsecret' } })),
    ).toEqual([
      'networks.mainnet.upstreams[0].wsUrlEnv names the environment variable NODE_WS_URL, which holds no ws or wss URL: put the URL of a node there',
    ])
  })

  test('reads headers from files, and rejects those that cannot be sent', () => {
    write('node-key', 'Bearer topsecret\n')
    const headers = { authorization: { file: 'node-key' }, 'x-team': 'wallet' }
    const upstreams = [{ url: 'http://10.0.0.5:8545', headers }]
    const file = write(
      'headers.json',
      JSON.stringify({ ...minimal, networks: { testnet: { chainId: 1, upstreams }, mainnet: node } }),
    )
    const [upstream] = readServiceConfig(file).networks['testnet']?.upstreams ?? []
    expect(upstream?.headers).toEqual({ authorization: 'Bearer topsecret', 'x-team': 'wallet' })
    write('node-key', 'topsecret\ntopsecret')
    expect(getFaults(() => readServiceConfig(file))).toEqual([
      'networks.testnet.upstreams[0].headers has a wrong value for "authorization": use 1 to 8192 printable ASCII characters, without line breaks and spaces around them',
    ])
    rmSync(join(folder, 'node-key'))
    expect(getFaults(() => readServiceConfig(file))).toEqual([
      'networks.testnet.upstreams[0].headers names a file that cannot be read (ENOENT): check its path and its permissions',
    ])
  })

  test('reports the position of a JSON syntax error, without quoting the file', () => {
    const file = write('broken.json', '{\n  "publicUrl": topsecret\n}')
    const faults = getFaults(() => readServiceConfig(file))
    expect(faults[0]).toMatch(/^the config is not JSON.*: fix the syntax there\./)
    expect(faults[0]).not.toContain('topsecret')
    expect(getFaults(() => readServiceConfig(join(folder, 'none.json')))).toEqual([
      `the config does not exist: ${join(folder, 'none.json')}`,
    ])
  })
})

describe('readServerSecrets', () => {
  const long = 'x'.repeat(40)

  test('reads secrets from the environment or a file, the newest first', () => {
    expect(readServerSecrets({ KEYRAIL_SECRET: long }).map(({ version }) => version)).toEqual([1])
    const file = join(folder, 'secret')
    writeFileSync(file, `1:${long}\n12:${long}y\n`)
    expect(readServerSecrets({ KEYRAIL_SECRET_FILE: file }).map(({ version }) => version)).toEqual([12, 1])
  })

  test.each<[string, Record<string, string>, string]>([
    ['no secret', {}, 'KEYRAIL_SECRET is missing'],
    ['an empty secret', { KEYRAIL_SECRET: '' }, 'KEYRAIL_SECRET is missing'],
    ['both variables', { KEYRAIL_SECRET: long, KEYRAIL_SECRET_FILE: 'x' }, 'both set'],
    ['a short secret', { KEYRAIL_SECRET: 'topsecret' }, 'at least 32 characters'],
    ['two secrets with the same version', { KEYRAIL_SECRET: `${long} ${long}` }, 'two secrets with the same version'],
    ['a version too high', { KEYRAIL_SECRET: `300:${long}` }, 'from 1 to 255'],
    ['a missing file', { KEYRAIL_SECRET_FILE: join(folder, 'nothing') }, 'cannot be read (ENOENT)'],
  ])('rejects %s, without repeating it', (_what, environment, fault) => {
    const faults = getFaults(() => readServerSecrets(environment)).join('\n')
    expect(faults).toContain(fault)
    expect(faults).not.toMatch(/topsecret|xxxx/)
  })

  test.each([
    ['', 'is empty'],
    ['topsecret', 'cannot be used'],
    [`${long} ${long}`, 'has two secrets'],
  ])('a wrong secret in a file is not blamed on KEYRAIL_SECRET, which is not set: %j', (text, fault) => {
    const file = join(folder, 'wrong-secret')
    writeFileSync(file, text)
    expect(getFaults(() => readServerSecrets({ KEYRAIL_SECRET_FILE: file }))).toEqual([
      expect.stringMatching(`^the file of KEYRAIL_SECRET_FILE ${fault}`),
    ])
  })
})

test('toStorageOptions returns DATABASE_URL, else the file of the config, else throws', () => {
  const storage = { file: '/var/lib/keyrail.db' }
  expect(toStorageOptions({ storage }, { DATABASE_URL: 'postgres://a' })).toEqual({ databaseUrl: 'postgres://a' })
  expect(toStorageOptions({ storage }, {})).toEqual(storage)
  expect(getFaults(() => toStorageOptions({}, {}))[0]).toContain('DATABASE_URL')
})

test('configJsonSchema has every member, and requires those without a default', () => {
  const { properties, required } = configJsonSchema() as { properties: Record<string, object>; required: string[] }
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(parseServiceConfig(minimal))))
  expect(required.toSorted()).toEqual(['networks', 'publicUrl'])
  expect(properties).toMatchObject({
    limits: {
      properties: { weights: { propertyNames: { enum: expect.arrayContaining(['eth_getLogs']) as unknown } } },
    },
  })
})

test.each(['rpc.example.org', 'rpc.example.org:8080', 'localhost:8080', '//rpc.example.org/rpc?k'])(
  'a public URL without a scheme has one error, not two: %s',
  (publicUrl) => {
    let faults: unknown
    try {
      parseServiceConfig({ ...minimal, publicUrl })
    } catch (error) {
      faults = isConfigError(error) && error.faults
    }
    expect(faults).toEqual([
      {
        path: 'publicUrl',
        fix: 'must be the http or https URL where callers reach the service, such as "https://rpc.example.org"',
      },
    ])
  },
)

test('a misspelt network of the config gets the name that was probably meant', () => {
  const { upstreams } = node
  const parse = (name: string) => () => parseServiceConfig({ ...minimal, networks: { [name]: { upstreams } } })
  expect(parse('ethereum-sepola')).toThrow(
    /^networks\.ethereum-sepola\.chainId is missing: .* Did you mean ethereum-sepolia\?$/,
  )
  expect(parse('our-own')).toThrow('networks.our-own.chainId is missing: no well-known network has this name')
})
