/** One node behind the gateway. */
export interface UpstreamOptions {
  /** http or https. May have a path, a query, user and password. A secret: it appears in no response and no log. */
  readonly url: string
  /** The node's WebSocket URL: ws or wss. With it, subscriptions learn of new blocks and pending transactions at once. A secret, like `url`. @default none: the node is polled */
  readonly wsUrl?: string
  /** Its name in logs and metrics, different from all others of the network. @default the network and its position, as in `testnet-1` */
  readonly name?: string
  /** Request headers for this node, such as its authorization, also for its WebSocket. Secrets, like the URL. @default none */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Its share of the load with `loadBalancing: 'spread'`, 0 to 1000: with 2, a node gets about twice as many calls as with 1. With 0, it is
   * used only if no other node is healthy. @default 1
   */
  readonly weight?: number
  /** Most requests to this node in a second, each call of a batch and each health check included. @default no limit */
  readonly maxRequestsPerSecond?: number
  /** The same for a day (UTC). @default no limit */
  readonly maxRequestsPerDay?: number
  /** Most units in a second: requests multiplied by the `weights` of their methods. @default no limit */
  readonly maxUnitsPerSecond?: number
  /** The same for a day (UTC). @default no limit */
  readonly maxUnitsPerDay?: number
  /** Whether it offers `debug_` methods, if `services.debug` is on. @default true */
  readonly debug?: boolean
  /** Whether it offers `trace_` methods, if `services.trace` is on. @default true */
  readonly trace?: boolean
  /** Whether it offers `txpool_` methods, if `services.txpool` is on. @default true */
  readonly txpool?: boolean
  /** The only methods that it gets. @default all */
  readonly allowMethods?: readonly string[]
  /** Methods that it never gets. @default none */
  readonly denyMethods?: readonly string[]
  /** The first block whose state it has. Calls that read older state go to other nodes, if there are any. @default 0 */
  readonly earliestState?: number
  /** How many of the newest blocks it has the state of: 128 for a geth without archive. @default all */
  readonly recentStateBlocks?: number
}

/** How the load of a network is spread over its upstreams. */
export type LoadBalancing =
  /** All calls go to the first one that can serve them, in the order of the config. */
  | 'order'
  /** A call goes to the one with the lowest load: its requests in flight, times its latency, divided by its weight. */
  | 'spread'
