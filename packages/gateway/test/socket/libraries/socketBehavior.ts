/** The libraries whose own WebSockets are tested, as columns of the table in docs/service/subscriptions.md. */
export const socketLibraries = ['viem', 'ethers', 'web3.js', 'web3.py'] as const
export type SocketLibrary = (typeof socketLibraries)[number]

/** What a library's own WebSocket does with the service, as `observeSocket` finds out. */
export interface SocketBehavior {
  readonly requests: 'yes' | 'no'
  readonly blocks: 'yes' | 'only their numbers' | 'no'
  readonly logs: 'yes' | 'no'
  readonly pending: 'yes' | 'no'
  readonly reorgBlocks: 'the new blocks' | 'their numbers again' | 'only newer ones' | 'no'
  readonly reorgLogs: 'yes' | 'no'
  readonly idle: 'stays open' | 'is lost'
  readonly restart: 'connects and subscribes again' | 'connects, but does not subscribe again' | 'is over'
  readonly missed: 'delivered' | 'missing'
  readonly outage: SocketBehavior['restart']
  readonly revoked: 'reports an error' | 'reports nothing'
}

/** The rows of the table. */
export const socketRows: Readonly<Record<keyof SocketBehavior, string>> = {
  requests: 'requests',
  blocks: 'new blocks',
  logs: 'new logs',
  pending: 'hashes of pending transactions',
  reorgBlocks: 'after a reorg: blocks',
  reorgLogs: 'after a reorg: replaced logs with `removed: true`',
  idle: 'without any message for three pings',
  restart: 'the service restarts (1012)',
  missed: 'blocks while it is not connected',
  outage: 'the service is away for 6 seconds',
  revoked: 'the key is revoked (1008)',
}

/** What `librarySockets.verify.ts` finds with the versions in this workspace. */
export const socketBehavior: Readonly<Record<SocketLibrary, SocketBehavior>> = {
  viem: {
    requests: 'yes',
    blocks: 'yes',
    logs: 'yes',
    pending: 'yes',
    reorgBlocks: 'the new blocks',
    reorgLogs: 'yes',
    idle: 'stays open',
    restart: 'connects and subscribes again',
    missed: 'missing',
    outage: 'is over',
    revoked: 'reports an error',
  },
  ethers: {
    requests: 'yes',
    blocks: 'only their numbers',
    logs: 'yes',
    pending: 'yes',
    reorgBlocks: 'their numbers again',
    reorgLogs: 'no',
    idle: 'stays open',
    restart: 'is over',
    missed: 'missing',
    outage: 'is over',
    revoked: 'reports nothing',
  },
  'web3.js': {
    requests: 'yes',
    blocks: 'yes',
    logs: 'yes',
    pending: 'yes',
    reorgBlocks: 'the new blocks',
    reorgLogs: 'yes',
    idle: 'stays open',
    restart: 'connects, but does not subscribe again',
    missed: 'missing',
    outage: 'connects, but does not subscribe again',
    revoked: 'reports an error',
  },
  'web3.py': {
    requests: 'yes',
    blocks: 'yes',
    logs: 'yes',
    pending: 'yes',
    reorgBlocks: 'the new blocks',
    reorgLogs: 'yes',
    idle: 'stays open',
    restart: 'connects and subscribes again',
    missed: 'missing',
    outage: 'connects and subscribes again',
    revoked: 'reports an error',
  },
}
