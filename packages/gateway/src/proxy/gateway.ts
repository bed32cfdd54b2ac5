import type { GatewayLoad } from './gatewayLoad.ts'
import type { GatewayConfig } from './gatewayOptions.ts'
import type { HubsState } from './caller/webSocket/createHubs.ts'
import type { SocketState } from './caller/webSocket/createSocketServer.ts'
import type { UpstreamState } from './upstream/groupMember.ts'
import type { StoreUses } from './upstream/store/networkStore.ts'

/** A gateway that serves JSON-RPC at URLs with an API key, in front of nodes. */
export interface Gateway {
  /**
   * Probes the upstreams once, then accepts requests. An upstream that does not respond is probed again later, and used once it responds.
   * @param options.port - 0 uses a free port. @default 0
   * @param options.host - The interface to listen on. @default '127.0.0.1'
   * @returns The URL for callers (`publicUrl` if that was given), and the port.
   * @throws The system's error if it cannot listen, such as EADDRINUSE.
   */
  listen(options?: { port?: number; host?: string }): Promise<{ url: string; port: number }>
  /**
   * Replaces the config without dropping a request: a request in flight completes with the config it started with. Unchanged nodes keep their
   * connections, and new ones are probed before they are used.
   * @returns When the new config is in use. Removed nodes are closed when the last request that may use them has ended.
   */
  reload(config: GatewayConfig): Promise<void>
  /** The current state of each upstream. */
  upstreams(): readonly UpstreamState[]
  /** The open WebSockets and their subscriptions. */
  webSockets(): WebSocketState
  /** How busy it is. */
  load(): GatewayLoad
  /** What the chain store had of the calls to each network that it is used for. */
  storeUses(): readonly StoreUses[]
  /**
   * Reports 503 at `/readyz` from now on, so that load balancers send callers elsewhere. Everything else is still accepted and served,
   * with `Connection: close`. Call it some seconds before `close` if there is a load balancer.
   * @param options.windowMs - How long before `close`, in milliseconds: WebSockets are closed (1012) spread over this time. @default only by `close`
   */
  prepareToClose(options?: { windowMs?: number }): void
  /**
   * Stops listening, completes the requests that are in flight, rejects later ones on open connections (503), and closes each
   * connection after its last response. WebSockets are closed (1012) in the first half of `graceMs`, a few at a time.
   * @param options.graceMs - After this, requests that are still in flight are cut off, in milliseconds. @default 10_000
   */
  close(options?: { graceMs?: number }): Promise<void>
}

/** The open WebSockets of a gateway, and their subscriptions. */
export interface WebSocketState extends SocketState, HubsState {}
