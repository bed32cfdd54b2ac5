export type {
  AddressDetails,
  AddressOptions,
  ApiKeyAddressOptions,
  AppAddressOptions,
  Network,
  PerNetwork,
  Secret,
  WholeAddressOptions,
} from './address/addressOptions.ts'
export type { FailureKind } from './failure/failureKind.ts'
export { isKeyrailError, KeyrailError } from './failure/keyrailError.ts'
export type { FailureSource, KeyrailErrorFields, RpcErrorObject } from './failure/keyrailError.ts'
export type { AccessList, AccessListEntry } from './schema/accessList.ts'
export type { Authorization, AuthorizationList } from './schema/authorization.ts'
export type { BatchCall, BatchFn, BatchResults, Settled } from './schema/batch.ts'
export type {
  BlockBody,
  RpcBlockHeader,
  BlockHeaderFields,
  BlockMethods,
  RpcBlockWithHashes,
  RpcBlockWithTransactions,
  RpcPendingBlockHeader,
  RpcPendingBlockWithHashes,
  RpcPendingBlockWithTransactions,
  Uncle,
} from './schema/block.ts'
export type {
  AccountAccess,
  BalanceChange,
  BlockAccessList,
  BlockAccessListMethods,
  CodeChange,
  NonceChange,
  SlotChanges,
  StorageChange,
} from './schema/blockAccessList.ts'
export type {
  BlockByHash,
  BlockByNumber,
  BlockIdentifier,
  BlockNumberOrTag,
  BlockTag,
  MinedBlockNumberOrTag,
  MinedBlockTag,
} from './schema/blockTag.ts'
export type { CallFrame, TracedLog } from './schema/callTrace.ts'
export type {
  Capabilities,
  CapabilitiesHead,
  CapabilitiesMethods,
  CapabilityResource,
  DeleteStrategy,
} from './schema/capabilities.ts'
export type { BlobSchedule, ConfigMethods, ForkConfig, NamedAddresses, NodeConfig } from './schema/config.ts'
export type {
  BadBlock,
  DebugMethods,
  ExecutionWitness,
  StorageRange,
  StorageRangeEntries,
  StorageRangeEntry,
} from './schema/debug.ts'
export type { DebugBlockTraceMethods } from './schema/debugBlockTrace.ts'
export type { DebugTransactionTraceMethods } from './schema/debugTransactionTrace.ts'
export type {
  AccessedSlots,
  ContractSize,
  ContractSizes,
  Erc7562Frame,
  OpcodeCounts,
  SlotCounts,
  SlotReads,
} from './schema/erc7562Trace.ts'
export type { EthereumRpc } from './schema/ethereumRpc.ts'
export type { AccessListResult, ExecutionMethods } from './schema/execution.ts'
export type { FeeHistory, FeeMethods } from './schema/fee.ts'
export type { FilterMethods } from './schema/filter.ts'
export type { Address, Bytes, Hash, Hex, Quantity } from './schema/hex.ts'
export type {
  RpcLog,
  LogBlockFilter,
  LogFilter,
  LogFilterFields,
  LogFilterTopic,
  LogMethods,
  LogRangeFilter,
} from './schema/log.ts'
export type { NetMethods } from './schema/net.ts'
export type { NodeMethods, SyncStage, SyncStatus } from './schema/node.ts'
export type { OpcodeStep, OpcodeStorage, OpcodeTrace } from './schema/opcodeTrace.ts'
export type {
  AccountOverride,
  AccountOverrideFields,
  AccountOverrideState,
  AccountOverrideStateDiff,
  BlockOverrides,
  StateOverrides,
  StorageOverride,
} from './schema/override.ts'
export type { PrestateAccount, PrestateDiff, PrestateStorage, PrestateTrace } from './schema/prestateTrace.ts'
export type { AccountProof, ProofMethods, StorageProof } from './schema/proof.ts'
export type { RpcReceipt, ReceiptMethods } from './schema/receipt.ts'
export type { MethodName, Params, RequestFn, Result } from './schema/request.ts'
export type {
  BlockStateCall,
  SimulateFields,
  SimulateForHashes,
  SimulateForTransactions,
  SimulateMethods,
  SimulatePayload,
  SimulatedBlockWithHashes,
  SimulatedBlockWithTransactions,
  SimulatedCall,
  SimulatedCallError,
  SimulatedCallFailure,
  SimulatedCallSuccess,
} from './schema/simulate.ts'
export type { Account, AccountInfo, StateMethods, StorageRequests, StorageValues } from './schema/state.ts'
export type { AccountDiff, Added, Changed, Delta, Removed, StateDiff, StorageDiff } from './schema/stateDiff.ts'
export type {
  FillTransactionResult,
  FilledAccessListTransaction,
  FilledBlobTransaction,
  FilledDynamicFeeTransaction,
  FilledExtras,
  FilledLegacyTransaction,
  FilledSetCodeTransaction,
  FilledTransaction,
  SignTransactionResult,
  SignatureFields,
  SubmitMethods,
} from './schema/submit.ts'
export type { TraceFilter, TraceMethods, TraceResult, TraceType, TransactionTraceResult } from './schema/trace.ts'
export type {
  CallAction,
  CallOutcome,
  CallTrace,
  CreateAction,
  CreateOutcome,
  CreateTrace,
  FlatTrace,
  FlatTracePlace,
  LocalizedTrace,
  RewardAction,
  RewardTrace,
  SuicideAction,
  SuicideTrace,
  TracePlace,
  TracePosition,
  TraceRecord,
} from './schema/traceRecord.ts'
export type {
  AnyPrestateTracerConfig,
  AnyPrestateTracerOptions,
  CallTracerConfig,
  CallTracerOptions,
  Erc7562TracerConfig,
  Erc7562TracerOptions,
  FlatCallTracerConfig,
  FlatCallTracerOptions,
  FourByteTrace,
  FourByteTracerOptions,
  MuxTrace,
  MuxTracerConfig,
  MuxTracerOptions,
  NoopTrace,
  NoopTracerOptions,
  OpcodeTracerOptions,
  PrestateDiffTracerConfig,
  PrestateDiffTracerOptions,
  PrestateTracerConfig,
  PrestateTracerFields,
  PrestateTracerOptions,
  TraceCallOverrides,
  TraceConfig,
  TraceOptions,
  TracedTransaction,
} from './schema/tracer.ts'
export type {
  DynamicFeeFields,
  LegacySignature,
  RpcPendingTransaction,
  PendingTransactionPlace,
  SignedAccessListTransaction,
  SignedBlobTransaction,
  SignedDynamicFeeTransaction,
  SignedLegacyTransaction,
  SignedSetCodeTransaction,
  SignedTransaction,
  RpcTransaction,
  TransactionFields,
  TransactionMethods,
  TransactionPlace,
  TypedSignature,
  UnsignedAccessListTransaction,
  UnsignedBlobTransaction,
  UnsignedDynamicFeeTransaction,
  UnsignedLegacyTransaction,
  UnsignedSetCodeTransaction,
  UnsignedTransaction,
} from './schema/transaction.ts'
export type { TransactionRequest } from './schema/transactionRequest.ts'
export type {
  TxpoolByAddress,
  TxpoolByNonce,
  TxpoolContent,
  TxpoolContentFrom,
  TxpoolInspection,
  TxpoolMethods,
  TxpoolStatus,
  TxpoolSummaryByAddress,
  TxpoolSummaryByNonce,
} from './schema/txpool.ts'
export type { VmMemoryWrite, VmStep, VmStepEffect, VmStorageWrite, VmTrace } from './schema/vmTrace.ts'
export type { Web3Methods } from './schema/web3.ts'
export type { RpcWithdrawal } from './schema/withdrawal.ts'
export { methodNames } from './schema/methodNames.ts'
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
export { batch } from './transport/batch.ts'
export type { BatchFeature, BatchOptions } from './transport/batch.ts'
export type { BreakerOptions, BreakerState, Health } from './transport/breaker.ts'
export { budget } from './transport/budget.ts'
export type { BudgetFeature, BudgetOptions, BudgetStats } from './transport/budget.ts'
export { cache } from './transport/cache.ts'
export type { CacheOptions, CacheStore } from './transport/cache.ts'
export type { CallOptions, Layer, Priority, RequestArguments } from './transport/call.ts'
export { createProvider } from './transport/createProvider.ts'
export type { Provider, ProviderRpcError } from './transport/createProvider.ts'
export { createTransport } from './transport/createTransport.ts'
export type { RawRequest } from './transport/createDispatch.ts'
export { failover } from './transport/failover.ts'
export type { FailoverFeature, FailoverOptions } from './transport/failover.ts'
export { layer } from './transport/layer.ts'
export type { RetryOptions } from './transport/retry.ts'
export type { EndpointState, HedgeOptions } from './transport/route.ts'
export { safeWrites } from './transport/safeWrites.ts'
export type { Keccak256, SafeWritesOptions } from './transport/safeWrites.ts'
export type { BatchMethods, FullStats, KeyrailTransport, StatsMethods, Transport } from './transport/transport.ts'
export type {
  EndpointDetails,
  EndpointOptions,
  FeatureOptions,
  TransportOptions,
} from './transport/transportOptions.ts'
