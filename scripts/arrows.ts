/** What a package may lean on. What is not listed is forbidden. */
export interface PackageArrows {
  /** Its name in the registry. */
  readonly name: string
  /** Folders under packages/ that its shipped code imports, by package name. */
  readonly imports: readonly string[]
  /** Of these, the folders it may import types from and nothing else. */
  readonly typesOnly?: readonly string[]
  /** Of these, the folders that it loads where somebody installed them, and does without otherwise: for its own tests, never `dependencies`. */
  readonly whereInstalled?: readonly string[]
  /** Folders that its tests may import as well. */
  readonly inTests: readonly string[]
  /** `dependencies` that are not ours. */
  readonly dependencies: readonly string[]
  /** `peerDependencies`. */
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

/** The folders of the gateway's sources. A folder may import those before it, and nothing else. */
export const planes: readonly string[] = ['lib', 'errors', 'storage', 'usage', 'auth', 'proxy', 'control', 'service']

/** The arrows between packages, by folder under packages/. A new package is added here first. */
export const arrows: Readonly<Record<string, PackageArrows>> = {
  core: {
    name: '@keyrail/core',
    imports: [],
    inTests: ['vectors'],
    dependencies: [],
    // Optional: loaded where the platform has no WebSocket, which is on Node 20.
    peers: ['ws'],
    nodeModules: 'nodeFiles',
  },
  fetch: adapter('fetch', []),
  ethers: adapter('ethers'),
  web3: adapter('web3', ['web3-core', 'web3-types', 'web3-utils']),
  viem: adapter('viem'),
  msw: {
    ...adapter('msw'),
    // Its faults and its chain are tried through every adapter, so no test of an adapter may lean on it: that were a loop.
    inTests: ['vectors', 'contracts', 'fetch', 'ethers', 'web3', 'viem'],
    dependencies: ['@noble/hashes'],
  },
  // Its tests run every example, so they need every library that one uses.
  snippets: { ...adapter('snippets', []), inTests: ['contracts', 'fetch', 'ethers', 'web3', 'viem'] },
  gateway: {
    name: '@keyrail/gateway',
    imports: ['core'],
    inTests: ['vectors'],
    dependencies: [
      '@hono/node-server',
      '@noble/hashes',
      'hono',
      'ioredis',
      'kysely',
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
    dependencies: ['@tanstack/react-query', '@tanstack/react-router', 'react', 'react-dom'],
    peers: [],
    nodeModules: 'nowhere',
  },
  cli: {
    name: 'keyrail',
    imports: ['core', 'fetch', 'ethers', 'web3', 'viem', 'gateway', 'snippets'],
    whereInstalled: ['ethers', 'web3', 'viem'],
    inTests: ['vectors'],
    dependencies: ['@foundry-rs/anvil', '@noble/hashes'],
    peers: ['ethers', 'web3', 'viem'],
    nodeModules: 'anywhere',
  },
  vectors: {
    name: '@keyrail/vectors',
    imports: [],
    inTests: [],
    dependencies: [],
    peers: [],
    nodeModules: 'nowhere',
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
    inTests: [],
    dependencies: ['ethers', 'web3', 'viem', 'msw', 'undici'],
    peers: [],
    nodeModules: 'anywhere',
  },
}
