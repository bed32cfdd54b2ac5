// The features of the transport, because strict package managers do not let an app import from @keyrail/core through this package.
export { batch, budget, cache, diagnostics, failover, hooks, layer, safeWrites, stats, tracing } from '@keyrail/core'
export { keyrail } from './keyrail.ts'
export type { KeyrailTransport, KeyrailTransportConfig } from './keyrailTransport.ts'
