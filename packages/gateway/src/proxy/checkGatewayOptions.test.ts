import { describe, expect, test } from 'vitest'
import { checkGatewayOptions } from './checkGatewayOptions.ts'
import { createGateway } from './createGateway.ts'
import { webSocketRanges } from './checkWebSocket.ts'
import { defaultLimits, defaultWebSocket } from './gatewayOptions.ts'
import type { GatewayOptions } from './gatewayOptions.ts'
import { createMemoryKeyStore } from '../auth/key/createMemoryKeyStore.ts'

const url = 'https://user:hunter22@secret.example/topsecrettoken'
const network = { chainId: 1, upstreams: [{ url }] }
const networks = { testnet: network, mainnet: network }
const validOptions: GatewayOptions = { networks, keys: createMemoryKeyStore() }

/** Valid options with some members replaced by values of any type. */
const given = (change: object): GatewayOptions => ({ ...validOptions, ...change })
const onTestnet = (change: object): GatewayOptions =>
  given({ networks: { ...networks, testnet: { ...network, ...change } } })
const upstream = (change: object): GatewayOptions => onTestnet({ upstreams: [{ url }, { url, ...change }] })

const known =
  'networks, networkHosts, keys, publicUrl, services, unsafeNodeMethods, limits, webSocket, usageLimits, weights, quotaStatus, meter, requestLog, tracer, unknownKeys, trustedProxies, testKeys, now, compression, tls, fallback, degraded, notReady, logRequests, log'
const noStore = 'keys must be a key store, an object with find(hash): create one with createMemoryKeyStore'
const noNodes =
  "networks.testnet.upstreams must be a list of at least one node, such as [{ url: 'http://127.0.0.1:8545' }]"
const noChain = 'networks.testnet.chainId must be a whole number from 1 to 9007199254740991'
const noName = "networks.testnet.upstreams[1].name must be a name for logs that is not empty and has no '/'"
const sameName =
  'networks.testnet.upstreams[1].name is the name of another upstream of this network: use a different one'
const upstreamMembers =
  'url, wsUrl, name, headers, weight, maxRequestsPerSecond, maxRequestsPerDay, maxUnitsPerSecond, maxUnitsPerDay, earliestState, recentStateBlocks, debug, trace, txpool, allowMethods, denyMethods'
const invalidUpstreams: readonly [member: string, value: unknown, fix: string][] = [
  ...[-1, 1_001, '1', null].map((value): [string, unknown, string] => [
    'weight',
    value,
    'must be a number from 0 to 1000',
  ]),
  ['maxRequestsPerSecond', 0, 'must be a whole number from 1 to 9007199254740991'],
  ['maxUnitsPerDay', 1.5, 'must be a whole number from 1 to 9007199254740991'],
  ['earliestState', -1, 'must be a whole number from 0 to 9007199254740991'],
  ['debug', 'no', 'must be true or false'],
  ['allowMethods', 'eth_call', "must be a list of methods, such as ['eth_call']"],
  ['denyMethods', ['eth_getLog'], 'has an unknown method "eth_getLog": did you mean "eth_getLogs"?'],
  ['wsUrl', 'http://hunter22', 'is not a ws or wss URL'],
  ['wsUrl', null, 'is not a ws or wss URL'],
  ['headers', ['hunter22'], 'must be an object of texts, by the name of the header'],
  ['headers', { host: 'hunter22' }, 'must not have "host", which the gateway sets itself: remove it'],
  [
    'headers',
    { 'x-key': { file: 'hunter22' } },
    'has a wrong value for "x-key": use 1 to 8192 printable ASCII characters, without line breaks and spaces around them',
  ],
  [
    'headers',
    { authorization: 'Bearer hunter22' },
    'must not have "authorization" if the URL has a user or a password: remove one of them',
  ],
]
const noUrl = 'networks.testnet.upstreams[1].url is not an http or https URL'
const knownLimits = Object.keys(defaultLimits).join(', ')
const max = {
  maxBodyBytes: 268_435_456,
  maxBatchCalls: 100_000,
  maxJsonDepth: 1_000,
  maxResponseBytes: 268_435_456,
  maxBufferedBytes: 9_007_199_254_740_991,
  upstreamTimeoutMs: 2_147_483_647,
  headersTimeoutMs: 2_147_483_647,
  requestTimeoutMs: 2_147_483_647,
  writeTimeoutMs: 2_147_483_647,
  maxConnections: 1_000_000,
  maxCacheBytes: 17_179_869_184,
  maxFilters: 100_000,
}
const getMin = (name: string): number => ({ maxCacheBytes: 0, maxJsonDepth: 8 })[name] ?? 1
const networkLimits: readonly string[] = [
  'maxBatchCalls',
  'maxResponseBytes',
  'upstreamTimeoutMs',
  'maxCacheBytes',
  'maxFilters',
]
const limitNames = Object.keys(max) as (keyof typeof max)[]

describe('the options of WebSockets', () => {
  const check = (webSocket: unknown) => checkGatewayOptions(given({ webSocket })).webSocket

  test('have defaults', () => {
    expect(check(undefined)).toEqual(defaultWebSocket)
    expect(check({ enabled: false, maxConnectionsPerKey: 5 })).toEqual({
      ...defaultWebSocket,
      enabled: false,
      maxConnectionsPerKey: 5,
    })
  })

  test.each(Object.entries(webSocketRanges))('%s is a whole number from its smallest to its largest', (name, range) => {
    const [min, largest] = range
    expect([check({ [name]: min }), check({ [name]: largest })]).toMatchObject([{ [name]: min }, { [name]: largest }])
    for (const wrong of [min - 1, largest + 1, min + 0.5, String(min), null])
      expect(() => check({ [name]: wrong })).toThrow(
        `webSocket.${name} must be a whole number from ${min} to ${largest}`,
      )
  })

  test('are an object with known names', () => {
    expect(() => check(null)).toThrow('webSocket must be an object with enabled, maxConnectionsPerKey')
    expect(() => check({ maxConnections: 1 })).toThrow("unknown option 'maxConnections' in webSocket")
    expect(() => check({ enabled: 1 })).toThrow('webSocket.enabled must be true or false')
  })
})

describe('invalid options', () => {
  const invalid: readonly [name: string, options: unknown, message: string][] = [
    ['none', undefined, `the options must be an object with ${known}`],
    ['null', null, `the options must be an object with ${known}`],
    ['an unknown name', given({ unsafeMethods: true }), `unknown option 'unsafeMethods': the options are ${known}`],
    ['a URL as a name', given({ [url]: true }), `unknown option: the options are ${known}`],
    [
      'no networks',
      given({ networks: undefined }),
      'networks must be an object with at least one network, by its name, such as "ethereum-mainnet"',
    ],
    [
      'a list of networks',
      given({ networks: [network] }),
      'networks must be an object with at least one network, by its name, such as "ethereum-mainnet"',
    ],
    [
      'a network without options',
      given({ networks: { testnet: null } }),
      'networks.testnet must be an object with chainId, aliases, upstreams, loadBalancing, maxLagBlocks, hedgeMs, splitLogs, checkLogs, limits, weights',
    ],
    ...['Sepolia', '-sepolia', 'sep_olia', 'api', 'x'.repeat(64)].map((name): [string, unknown, string] => [
      `the network ${name}`,
      given({ networks: { ...networks, [name]: network } }),
      'a name in networks must be 1 to 63 lower-case letters, digits and inner hyphens, such as "ethereum-mainnet", and no path of the service, such as "api"',
    ]),
    [
      'an alias that is the name of another network',
      onTestnet({ aliases: ['sepolia', 'mainnet'] }),
      'networks.testnet.aliases has the name of another network or an alias twice: remove it',
    ],
    [
      'an alias that no network can have',
      onTestnet({ aliases: ['v2'] }),
      'networks.testnet.aliases must be a list of names. A name must be 1 to 63 lower-case letters, digits and inner hyphens, such as "ethereum-mainnet", and no path of the service, such as "api"',
    ],
    [
      'hosts without the network',
      given({ networkHosts: 'rpc.example.org' }),
      'networkHosts must be a host name that starts with {network}, as in "{network}.rpc.example.org"',
    ],
    [
      'an unknown name in a network',
      onTestnet({ chain: 1 }),
      "unknown option 'chain' in networks.testnet: the options are chainId, aliases, upstreams, loadBalancing, maxLagBlocks, hedgeMs, splitLogs, checkLogs, limits, weights",
    ],
    ...['0x1', '1', NaN, 1.5, 0, -1, 2 ** 53, 1n, null, undefined].map((chainId): [string, unknown, string] => [
      `chainId ${typeof chainId} ${chainId}`,
      onTestnet({ chainId }),
      noChain,
    ]),
    ...[0, null, '1', 1.5].map((value): [string, unknown, string] => [
      `maxLagBlocks ${value}`,
      onTestnet({ maxLagBlocks: value }),
      `networks.testnet.maxLagBlocks must be a whole number from 1 to ${2 ** 53 - 1}`,
    ]),
    ...[0, null, 'p99', 1.5].map((value): [string, unknown, string] => [
      `hedgeMs ${value}`,
      onTestnet({ hedgeMs: value }),
      "networks.testnet.hedgeMs must be a whole number from 1 to 2147483647, or 'p95'",
    ]),
    ...[null, 'random'].map((value): [string, unknown, string] => [
      `loadBalancing ${value}`,
      onTestnet({ loadBalancing: value }),
      "networks.testnet.loadBalancing must be 'order' or 'spread'",
    ]),
    ['splitLogs 1', onTestnet({ splitLogs: 1 }), 'networks.testnet.splitLogs must be true or false'],
    ['checkLogs 1', onTestnet({ checkLogs: 1 }), 'networks.testnet.checkLogs must be true or false'],
    ...[undefined, null, [], url, {}].map((upstreams): [string, unknown, string] => [
      `upstreams ${JSON.stringify(upstreams)}`,
      onTestnet({ upstreams }),
      noNodes,
    ]),
    [
      'a URL instead of an upstream',
      onTestnet({ upstreams: [url] }),
      `networks.testnet.upstreams[0] must be an object with ${upstreamMembers}`,
    ],
    [
      'an unknown name in an upstream',
      upstream({ header: {} }),
      `unknown option 'header' in networks.testnet.upstreams[1]: the options are ${upstreamMembers}`,
    ],
    ...invalidUpstreams.map(([member, value, fix]): [string, unknown, string] => [
      `${member} ${JSON.stringify(value)}`,
      onTestnet({ loadBalancing: 'spread', upstreams: [{ url }, { url, [member]: value }] }),
      `networks.testnet.upstreams[1].${member} ${fix}`,
    ]),
    [
      'a weight without spread',
      upstream({ weight: 2 }),
      "networks.testnet.upstreams[1].weight only works with loadBalancing 'spread': set networks.testnet.loadBalancing, or remove the weight",
    ],
    ['the default name of another', upstream({ name: 'testnet-1' }), sameName],
    [
      'a name twice',
      onTestnet({
        upstreams: [
          { url, name: 'a' },
          { url, name: 'a' },
        ],
      }),
      sameName,
    ],
    ...[undefined, null, '', 'secret.example', 'ftp://u:hunter22@secret.example', new URL(url), 'http://'].map(
      (wrongUrl): [string, unknown, string] => [`url ${String(wrongUrl)}`, upstream({ url: wrongUrl }), noUrl],
    ),
    ...[null, '', ' ', 1, url].map((name): [string, unknown, string] => [`name ${name}`, upstream({ name }), noName]),
    ...[undefined, null, {}, new Map(), { find: 1 }].map((keys): [string, unknown, string] => [
      `keys ${JSON.stringify(keys)}`,
      given({ keys }),
      noStore,
    ]),
    ['publicUrl', given({ publicUrl: 'secret.example' }), 'publicUrl is not an http or https URL'],
    ['publicUrl null', given({ publicUrl: null }), 'publicUrl is not an http or https URL'],
    [
      'services',
      given({ services: ['debug'] }),
      'services must be an object with debug, trace, txpool, javascriptTracers',
    ],
    [
      'services null',
      given({ services: null }),
      'services must be an object with debug, trace, txpool, javascriptTracers',
    ],
    [
      'an unknown name in services',
      given({ services: { traces: true } }),
      "unknown option 'traces' in services: the options are debug, trace, txpool, javascriptTracers",
    ],
    ['services.debug', given({ services: { debug: 'false' } }), 'services.debug must be true or false'],
    ['services.txpool', given({ services: { txpool: null } }), 'services.txpool must be true or false'],
    ['services.trace', given({ services: { trace: 1 } }), 'services.trace must be true or false'],
    [
      'services.javascriptTracers',
      given({ services: { javascriptTracers: 'yes' } }),
      'services.javascriptTracers must be true or false',
    ],
    ['compression', given({ compression: 'gzip' }), 'compression must be true or false'],
    ['unsafeNodeMethods', given({ unsafeNodeMethods: 'no' }), 'unsafeNodeMethods must be true or false'],
    ['log', given({ log: console }), 'log must be a function'],
    ['logRequests', given({ log: () => {}, logRequests: 'no' }), 'logRequests must be true or false'],
    ['now', given({ now: 0 }), 'now must be a function'],
    [
      'usageLimits',
      given({ usageLimits: { take: () => undefined } }),
      'usageLimits must be an object with take(), giveBack(), peek()',
    ],
    ...[1, { eth_call: 0 }, { eth_call: 1_000_001 }, { eth_call: 1.5 }, { eth_call: '5' }].map(
      (weights): [string, unknown, string] => [
        `weights ${JSON.stringify(weights)}`,
        given({ weights }),
        'weights must be an object of whole numbers from 1 to 1000000, by method',
      ],
    ),
    [
      'a weight of an unknown method',
      given({ weights: { eth_cal: 5 } }),
      'weights has an unknown method "eth_cal": did you mean "eth_call"?',
    ],
    [
      'a URL as a method',
      given({ weights: { [url]: 5 } }),
      'weights has an unknown method (name hidden): use full names, such as "eth_getLogs"',
    ],
    ['meter null', given({ meter: null }), 'meter must be an object with count()'],
    [
      'requestLog without add',
      given({ requestLog: { admits: () => true } }),
      'requestLog must be an object with admits(), add()',
    ],
    ['tracer without start', given({ tracer: {} }), 'tracer must be an object with start()'],
    ...['403', 401, null].map((quotaStatus): [string, unknown, string] => [
      `quotaStatus ${typeof quotaStatus}`,
      given({ quotaStatus }),
      'quotaStatus must be 403 or 429',
    ]),
    ['unknownKeys', given({ unknownKeys: 10 }), 'unknownKeys must be an object with perSecond, burst'],
    [
      'unknownKeys without a burst',
      given({ unknownKeys: { perSecond: 10 } }),
      'unknownKeys.burst must be a whole number from 1 to 1000000',
    ],
    [
      'unknownKeys.perSecond',
      given({ unknownKeys: { perSecond: 0, burst: 1 } }),
      'unknownKeys.perSecond must be a whole number from 1 to 1000000',
    ],
    ...['10.0.0.0/8', [1], [undefined]].map((trustedProxies): [string, unknown, string] => [
      `trustedProxies ${JSON.stringify(trustedProxies)}`,
      given({ trustedProxies }),
      "trustedProxies must be a list of addresses and ranges, such as ['10.0.0.0/8']",
    ]),
    [
      'a proxy by name',
      given({ trustedProxies: ['secret.example'] }),
      'trustedProxies[0] is not an IP address: use one such as 203.0.113.7 or 2001:db8::1, or a range such as 203.0.113.0/24',
    ],
    ['testKeys', given({ testKeys: 1 }), 'testKeys must be true or false'],
    ['limits', given({ limits: 1 }), `limits must be an object with ${knownLimits}`],
    ['limits null', given({ limits: null }), `limits must be an object with ${knownLimits}`],
    [
      'an unknown name in limits',
      given({ limits: { maxBody: 1 } }),
      `unknown option 'maxBody' in limits: the options are ${knownLimits}`,
    ],
    ...limitNames.flatMap((name) =>
      [NaN, Infinity, getMin(name) - 1, -1, 1.5, '1', null, max[name] + 1].map((value): [string, unknown, string] => [
        `limits.${name} ${typeof value} ${value}`,
        given({ limits: { [name]: value } }),
        `limits.${name} must be a whole number from ${getMin(name)} to ${max[name]}`,
      ]),
    ),
    ...limitNames
      .filter((name) => networkLimits.includes(name))
      .map((name): [string, unknown, string] => [
        `limits.${name} of a network`,
        onTestnet({ limits: { [name]: max[name] + 1 } }),
        `networks.testnet.limits.${name} must be a whole number from ${getMin(name)} to ${max[name]}`,
      ]),
    ...limitNames
      .filter((name) => !networkLimits.includes(name))
      .map((name): [string, unknown, string] => [
        `limits.${name} of a network, which holds for all networks`,
        onTestnet({ limits: { [name]: max[name] } }),
        `unknown option '${name}' in networks.testnet.limits: the options are ${networkLimits.join(', ')}`,
      ]),
    [
      'weights of a network',
      onTestnet({ weights: { eth_getLogs: 0 } }),
      'networks.testnet.weights must be an object of whole numbers from 1 to 1000000, by method',
    ],
    [
      'an unknown method in the weights of a network',
      onTestnet({ weights: { eth_getLog: 75 } }),
      'networks.testnet.weights has an unknown method "eth_getLog": did you mean "eth_getLogs"?',
    ],
    [
      'a longer timeout for headers than for requests',
      given({ limits: { headersTimeoutMs: 2, requestTimeoutMs: 1 } }),
      'limits.headersTimeoutMs must be at most limits.requestTimeoutMs, which includes it',
    ],
  ]

  test.each(invalid)('%s: a TypeError names the option and the fix', (_, options, message) => {
    expect(() => createGateway(options as GatewayOptions)).toThrow(new TypeError(message))
    expect(message).not.toMatch(/hunter22|topsecret|secret\.example/)
  })
})

describe('valid options', () => {
  const defaults = {
    publicUrl: undefined,
    services: { debug: false, trace: false, txpool: false, javascriptTracers: false },
    unsafeNodeMethods: false,
    limits: defaultLimits,
    usageLimits: undefined,
    weights: {},
    compression: true,
    quotaStatus: 403,
    meter: undefined,
    requestLog: undefined,
    unknownKeys: { perSecond: 10, burst: 100 },
    testKeys: false,
    now: Date.now,
    log: undefined,
  }

  test('a missing option has its default', () => {
    expect(checkGatewayOptions(validOptions)).toMatchObject(defaults)
    expect(checkGatewayOptions(validOptions).networks.get('mainnet')).toEqual({
      chainId: 1,
      aliases: [],
      upstreams: [{ name: 'mainnet-1', url: new URL(url), headers: {} }],
      loadBalancing: 'order',
      maxLagBlocks: 8,
      hedgeMs: undefined,
      splitLogs: true,
      checkLogs: true,
      limits: {
        maxBatchCalls: 1_000,
        maxResponseBytes: 67_108_864,
        upstreamTimeoutMs: 30_000,
        maxCacheBytes: 33_554_432,
        maxFilters: 100,
      },
      weights: undefined,
    })
  })

  test('an option that is undefined has its default', () => {
    const none = { publicUrl: undefined, services: undefined, unsafeNodeMethods: undefined, limits: undefined }
    expect(checkGatewayOptions(given({ ...none, log: undefined }))).toMatchObject(defaults)
    const limits = Object.fromEntries(limitNames.map((name) => [name, undefined]))
    expect(checkGatewayOptions(given({ limits, services: { debug: undefined, trace: undefined } }))).toMatchObject(
      defaults,
    )
    expect(checkGatewayOptions(upstream({ name: undefined })).networks.get('testnet')?.upstreams[1]?.name).toBe(
      'testnet-2',
    )
  })

  test('each limit can have its maximum and its minimum', () => {
    expect(checkGatewayOptions(given({ limits: max })).limits).toEqual(max)
    const min = Object.fromEntries(limitNames.map((name) => [name, getMin(name)]))
    expect(checkGatewayOptions(given({ limits: min })).limits).toEqual(min)
  })

  test("a network's limits come before those of the gateway, and its weights replace them", () => {
    const own = { limits: { maxBatchCalls: 20 }, weights: { eth_call: 1, eth_getLogs: 75 } }
    const networks = { ...validOptions.networks, testnet: { ...validOptions.networks['testnet'], ...own } }
    const options = given({ networks, limits: { maxBatchCalls: 500, maxFilters: 7 }, weights: { eth_call: 5 } })
    const checked = checkGatewayOptions(options)
    const { testnet, mainnet } = Object.fromEntries(checked.networks)
    expect(testnet).toMatchObject({ limits: { maxBatchCalls: 20, maxFilters: 7 }, weights: { eth_getLogs: 75 } })
    expect(Object.keys(testnet?.weights ?? {})).toEqual(['eth_getLogs'])
    expect(mainnet).toMatchObject({ limits: { maxBatchCalls: 500, maxFilters: 7 }, weights: undefined })
  })

  test('weights of 1 are left out', () => {
    const weights = { eth_call: 1, eth_getLogs: 1_000_000 }
    expect(checkGatewayOptions(given({ weights })).weights).toEqual({ eth_getLogs: 1_000_000 })
  })

  test('a request timeout below the default headers timeout also limits the headers', () => {
    expect(checkGatewayOptions(given({ limits: { requestTimeoutMs: 5_000 } })).limits.headersTimeoutMs).toBe(5_000)
    createGateway(given({ limits: { requestTimeoutMs: 5_000 } }))
  })
})
