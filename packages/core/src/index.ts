export type {
  ApiKeyUrlOptions,
  AppUrlOptions,
  EndpointUrlOptions,
  FullUrlOptions,
  PerNetwork,
  RequestHeaders,
  Secret,
} from './endpoint/endpointUrlOptions.ts'
export { describeFailure } from './failure/describeFailure.ts'
export type { FailureKind } from './failure/failureKind.ts'
export { findFailure } from './failure/findFailure.ts'
export { isKeyrailError, KeyrailError } from './failure/keyrailError.ts'
export type { FailureSource, KeyrailErrorFields, RpcErrorObject } from './failure/keyrailError.ts'
export type { BatchCall, BatchFn, BatchResults, Settled } from './schema/batch.ts'
export type { RpcBlock } from './schema/block.ts'
export type { BlockTag } from './schema/blockTag.ts'
export type { EthereumRpc } from './schema/ethereumRpc.ts'
export type { Address, Hash, Hex, Quantity } from './schema/hex.ts'
export type { LogFilter, RpcLog } from './schema/log.ts'
export type { RpcReceipt } from './schema/receipt.ts'
export type { MethodName, Params, RequestFn, Result } from './schema/request.ts'
export type { RpcTransaction } from './schema/transaction.ts'
export type { TransactionRequest } from './schema/transactionRequest.ts'
export { methodNames } from './schema/methodSlice.ts'
export { diagnostics } from './observe/diagnostics.ts'
export type { DiagnosticsFeature } from './observe/diagnostics.ts'
export { hooks } from './observe/hooks.ts'
export type { Hooks, HooksFeature } from './observe/hooks.ts'
export type { LatencyStats } from './observe/latencyHistogram.ts'
export { stats } from './observe/statsFeature.ts'
export type { StatsFeature } from './observe/statsFeature.ts'
export type { EndpointStats, StatsSource, TrafficStats, TransportStats } from './observe/stats.ts'
export { tracing } from './observe/tracing.ts'
export type {
  Tracer,
  TracingApi,
  TracingAttributes,
  TracingContext,
  TracingFeature,
  TracingOptions,
  TracingSpan,
} from './observe/tracing.ts'
export type {
  AttemptEvent,
  FailureEvent,
  RequestEvent,
  RerouteEvent,
  ResponseEvent,
  RetryEvent,
  TransportEvent,
} from './observe/transportEvent.ts'
export { webSocket } from './socket/webSocket.ts'
export type { WebSocketFeature, WebSocketOptions } from './socket/webSocket.ts'
export type { WebSocketConstructor } from './socket/openSocket.ts'
export { createSubscription } from './subscribe/createSubscription.ts'
export type {
  BlockEvent,
  BlockPosition,
  HeaderEvent,
  LogEvent,
  ReorgEvent,
  Subscription,
  SubscriptionEvent,
  SubscriptionFailure,
  SubscriptionOptions,
  SubscriptionRequest,
  TransactionEvent,
} from './subscribe/subscription.ts'
export { batch } from './transport/batch.ts'
export type { BatchFeature, BatchOptions } from './transport/batch.ts'
export type { BreakerOptions, BreakerState, Health } from './transport/breaker.ts'
export { budget } from './transport/budget.ts'
export type { BudgetFeature, BudgetOptions, BudgetStats } from './transport/budget.ts'
export { cache } from './transport/cache.ts'
export type { CacheOptions, CacheStore } from './transport/cache.ts'
export type { CallOptions, Layer, Priority, RequestArguments } from './transport/call/call.ts'
export { confirm } from './transport/confirm.ts'
export type { ConfirmOptions } from './transport/confirm.ts'
export { createProvider } from './transport/createProvider.ts'
export type { Provider, ProviderMessage, ProviderRpcError } from './transport/createProvider.ts'
export { createTransport } from './transport/createTransport.ts'
export type { RawRequest } from './transport/call/createDispatch.ts'
export { failover } from './transport/failover.ts'
export type { FailoverFeature, FailoverOptions } from './transport/failover.ts'
export { layer } from './transport/layer.ts'
export type { RetryOptions } from './transport/retry.ts'
export type { ConfirmFeature } from './transport/route/confirmFeature.ts'
export type { EndpointState, HedgeOptions } from './transport/route/routeOptions.ts'
export { safeWrites } from './transport/safeWrites.ts'
export type { Keccak256, SafeWritesOptions } from './transport/safeWrites.ts'
export type {
  BatchMethods,
  FeatureMethods,
  FullStats,
  KeyrailTransport,
  StatsMethods,
  Transport,
} from './transport/transport.ts'
export type { EndpointDetails, EndpointOptions } from './transport/endpoint/endpointOptions.ts'
export type { FeatureOptions, TransportOptions } from './transport/transportOptions.ts'
