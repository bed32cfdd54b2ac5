/** The dependencies that a package may have. All others are forbidden. */
export interface PackageArrows {
  /** The name of the package. */
  readonly name: string
  /** Folders under packages/ that its shipped code imports, by package name. */
  readonly imports: readonly string[]
  /** Those of `imports` from which it may import only types. */
  readonly typesOnly?: readonly string[]
  /** Those of `imports` that it only loads if they are installed. They must be dev dependencies, never `dependencies`. */
  readonly optional?: readonly string[]
  /** Other folders that its tests may import. */
  readonly inTests: readonly string[]
  /** `dependencies` on packages of others. */
  readonly dependencies: readonly string[]
  /** `peerDependencies` on packages of others. */
  readonly peers: readonly string[]
  /** Where shipped code may import Node's own modules: nowhere, in `*.node.ts` files, or anywhere. */
  readonly nodeModules: 'nowhere' | 'nodeFiles' | 'anywhere'
}

const adapter = (library: string, peers: readonly string[] = [library]): PackageArrows => ({
  name: `@keyrail/${library}`,
  imports: ['core'],
  inTests: ['vectors', 'contracts', 'gateway'],
  dependencies: [],
  peers,
  nodeModules: 'nowhere',
})

/**
 * The folders of the gateway's sources. A folder may import those before it, and nothing else. `email`, `alerts` and `oidc` come after `proxy`, so
 * that no code on a call's path can send an email, or wait for an alert or an identity provider.
 */
export const planes: readonly string[] = [
  'lib',
  'errors',
  'storage',
  'usage',
  'auth',
  'proxy',
  'email',
  'alerts',
  'oidc',
  'control',
  'service',
]

/**
 * The folders of the gateway's proxy. A folder may import those before it, and nothing else: the nodes know nothing of requests, and the steps of a
 * request do not know whether it came over HTTP or as a message of a WebSocket.
 */
export const proxyFolders: readonly string[] = [
  'method',
  'options',
  'http',
  'upstream',
  'subscription',
  'request',
  'caller',
]

/** The arrows between packages, by folder under packages/. A new package is added here first. */
export const arrows: Readonly<Record<string, PackageArrows>> = {
  core: {
    name: '@keyrail/core',
    imports: [],
    inTests: ['vectors'],
    dependencies: [],
    peers: [],
    nodeModules: 'nodeFiles',
  },
  fetch: adapter('fetch', []),
  ethers: adapter('ethers'),
  web3: adapter('web3', ['web3-core', 'web3-types', 'web3-utils']),
  viem: adapter('viem'),
  msw: {
    ...adapter('msw'),
    // Its tests use every adapter. So no test of an adapter may import it: that would be a loop.
    inTests: ['vectors', 'contracts', 'fetch', 'ethers', 'web3', 'viem'],
    dependencies: ['@ethereumjs/rlp', '@noble/hashes', '@noble/secp256k1', 'ox'],
  },
  // Its tests run every example, so they need every library that one uses.
  snippets: { ...adapter('snippets', []), inTests: ['contracts', 'fetch', 'ethers', 'web3', 'viem'] },
  gateway: {
    name: '@keyrail/gateway',
    imports: ['core'],
    inTests: ['vectors'],
    dependencies: [
      '@ethereumjs/rlp',
      '@hono/node-server',
      '@noble/hashes',
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
      '@simplewebauthn/server',
      'cluster-key-slot',
      'hono',
      'ioredis',
      'kysely',
      'lru-cache',
      'negotiator',
      'nodemailer',
      'openid-client',
      'otpauth',
      'pg',
      'prom-client',
      'undici',
      'ws',
      'zod',
    ],
    peers: [],
    nodeModules: 'anywhere',
  },
  dashboard: {
    name: '@keyrail/dashboard',
    imports: ['gateway', 'snippets'],
    typesOnly: ['gateway'],
    inTests: ['core'],
    dependencies: [
      '@fontsource-variable/inter',
      '@simplewebauthn/browser',
      '@tanstack/react-query',
      '@tanstack/react-router',
      'react',
      'react-dom',
      'uqr',
      'viem',
    ],
    peers: [],
    nodeModules: 'nowhere',
  },
  cli: {
    name: 'keyrail',
    imports: ['core', 'fetch', 'ethers', 'web3', 'viem', 'gateway', 'snippets'],
    optional: ['ethers', 'web3', 'viem'],
    inTests: ['vectors'],
    dependencies: [
      '@foundry-rs/anvil',
      '@modelcontextprotocol/sdk',
      '@noble/hashes',
      'hyparquet-writer',
      'minisearch',
      'zod',
    ],
    peers: ['ethers', 'web3', 'viem'],
    nodeModules: 'anywhere',
  },
  'create-keyrail': {
    name: 'create-keyrail',
    imports: [],
    inTests: [],
    dependencies: [],
    peers: [],
    nodeModules: 'anywhere',
  },
  vectors: {
    name: '@keyrail/vectors',
    imports: [],
    inTests: [],
    dependencies: [],
    peers: [],
    nodeModules: 'anywhere',
  },
  contracts: {
    name: '@keyrail/contracts',
    imports: [],
    inTests: ['core', 'gateway'],
    dependencies: [],
    peers: [],
    nodeModules: 'nowhere',
  },
  bench: {
    name: '@keyrail/bench',
    imports: ['core', 'fetch', 'ethers', 'web3', 'viem', 'gateway', 'msw'],
    inTests: ['vectors', 'cli'],
    dependencies: ['ethers', 'web3', 'viem', 'msw', 'undici'],
    peers: [],
    nodeModules: 'anywhere',
  },
}
