export type { AccessList, AccessListEntry } from './accessList.ts'
export type { Authorization, AuthorizationList } from './authorization.ts'
export type { BatchCall, BatchFn, BatchResults, Settled } from './batch.ts'
export type {
  BlockBody,
  RpcBlockHeader,
  BlockHeaderFields,
  BlockMethods,
  RpcBlock,
  RpcBlockWithHashes,
  RpcBlockWithTransactions,
  RpcPendingBlockHeader,
  RpcPendingBlockWithHashes,
  RpcPendingBlockWithTransactions,
  Uncle,
} from './block.ts'
export type {
  AccountAccess,
  BalanceChange,
  BlockAccessList,
  BlockAccessListMethods,
  CodeChange,
  NonceChange,
  SlotChanges,
  StorageChange,
} from './blockAccessList.ts'
export type {
  BlockByHash,
  BlockByNumber,
  BlockIdentifier,
  BlockNumberOrTag,
  BlockTag,
  MinedBlockNumberOrTag,
  MinedBlockTag,
} from './blockTag.ts'
export type { CallFrame, TracedLog } from './callTrace.ts'
export type {
  Capabilities,
  CapabilitiesHead,
  CapabilitiesMethods,
  CapabilityResource,
  DeleteStrategy,
} from './capabilities.ts'
export type { BlobSchedule, ConfigMethods, ForkConfig, NamedAddresses, NodeConfig } from './config.ts'
export type {
  BadBlock,
  DebugMethods,
  ExecutionWitness,
  StorageRange,
  StorageRangeEntries,
  StorageRangeEntry,
} from './debug.ts'
export type { DebugTraceMethods, TraceMethod } from './debugTrace.ts'
export type {
  AccessedSlots,
  ContractSize,
  ContractSizes,
  Erc7562Frame,
  OpcodeCounts,
  SlotCounts,
  SlotReads,
} from './erc7562Trace.ts'
export type { EthereumRpc } from './ethereumRpc.ts'
export type { AccessListResult, ExecutionMethods } from './execution.ts'
export type { FeeHistory, FeeMethods } from './fee.ts'
export type { FilterMethods } from './filter.ts'
export type { Address, Bytes, Hash, Hex, Quantity } from './hex.ts'
export type {
  RpcLog,
  LogBlockFilter,
  LogFilter,
  LogFilterFields,
  LogFilterTopic,
  LogMethods,
  LogRangeFilter,
} from './log.ts'
export type { NetMethods } from './net.ts'
export type { NodeMethods, SyncStage, SyncStatus } from './node.ts'
export type { OpcodeStep, OpcodeStorage, OpcodeTrace } from './opcodeTrace.ts'
export type {
  AccountOverride,
  AccountOverrideFields,
  AccountOverrideState,
  AccountOverrideStateDiff,
  BlockOverrides,
  StateOverrides,
  StorageOverride,
} from './override.ts'
export type { PrestateAccount, PrestateDiff, PrestateStorage, PrestateTrace } from './prestateTrace.ts'
export type { AccountProof, ProofMethods, StorageProof } from './proof.ts'
export type { RpcReceipt, ReceiptMethods } from './receipt.ts'
export type { CallOptions, Priority } from './callOptions.ts'
export type { MethodName, Params, RequestFn, Result } from './request.ts'
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
} from './simulate.ts'
export type { Account, AccountInfo, StateMethods, StorageRequests, StorageValues } from './state.ts'
export type { AccountDiff, Added, Changed, Delta, Removed, StateDiff, StorageDiff } from './stateDiff.ts'
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
} from './submit.ts'
export type { TraceFilter, TraceMethods, TraceResult, TraceType, TransactionTraceResult } from './trace.ts'
export type {
  CallAction,
  CallOutcome,
  CallTrace,
  CreateAction,
  CreateOutcome,
  CreateTrace,
  FlatTrace,
  FlatTraceLocation,
  LocalizedTrace,
  RewardAction,
  RewardTrace,
  SuicideAction,
  SuicideTrace,
  TraceLocation,
  TracePosition,
  TraceRecord,
} from './traceRecord.ts'
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
} from './tracer.ts'
export type {
  DynamicFeeFields,
  LegacySignature,
  RpcPendingTransaction,
  PendingTransactionLocation,
  SignedAccessListTransaction,
  SignedBlobTransaction,
  SignedDynamicFeeTransaction,
  SignedLegacyTransaction,
  SignedSetCodeTransaction,
  SignedTransaction,
  RpcTransaction,
  TransactionFields,
  TransactionMethods,
  TransactionLocation,
  TypedSignature,
  UnsignedAccessListTransaction,
  UnsignedBlobTransaction,
  UnsignedDynamicFeeTransaction,
  UnsignedLegacyTransaction,
  UnsignedSetCodeTransaction,
  UnsignedTransaction,
} from './transaction.ts'
export type { TransactionRequest } from './transactionRequest.ts'
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
} from './txpool.ts'
export type { VmMemoryWrite, VmStep, VmStepEffect, VmStorageWrite, VmTrace } from './vmTrace.ts'
export type { Web3Methods } from './web3.ts'
export type { RpcWithdrawal } from './withdrawal.ts'
