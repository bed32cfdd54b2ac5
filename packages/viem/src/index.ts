// App code can import all of Keyrail from this package: strict package managers hide @keyrail/core, which is only its dependency.
export {
  batch,
  budget,
  cache,
  confirm,
  createTransport,
  describeFailure,
  diagnostics,
  failover,
  findFailure,
  hooks,
  isKeyrailError,
  KeyrailError,
  layer,
  safeWrites,
  stats,
  tracing,
  webSocket,
} from '@keyrail/core'
export type {
  BatchOptions,
  BudgetOptions,
  CacheOptions,
  ConfirmOptions,
  EndpointOptions,
  FailoverOptions,
  FailureKind,
  Hooks,
  Layer,
  RetryOptions,
  SafeWritesOptions,
  TracingOptions,
  Transport,
  TransportOptions,
  WebSocketOptions,
} from '@keyrail/core'
export { keyrail } from './keyrail.ts'
export { keyrailTransports } from './keyrailTransports.ts'
export type { KeyrailTransportsOptions } from './keyrailTransports.ts'
export type { KeyrailTransport, KeyrailTransportConfig, KeyrailWebSocketTransport } from './keyrailTransport.ts'
