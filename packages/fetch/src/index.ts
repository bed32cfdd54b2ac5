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
  layer,
  safeWrites,
  stats,
  tracing,
  webSocket,
} from '@keyrail/core'
export { isKeyrailError, KeyrailError } from '@keyrail/core'
export type {
  BatchOptions,
  BudgetOptions,
  CacheOptions,
  ConfirmOptions,
  CallOptions,
  EndpointOptions,
  EthereumRpc,
  FailoverOptions,
  FailureKind,
  Hex,
  Hooks,
  Layer,
  RetryOptions,
  SafeWritesOptions,
  Subscription,
  SubscriptionFailure,
  SubscriptionOptions,
  TracingOptions,
  Transport,
  TransportOptions,
  WebSocketOptions,
} from '@keyrail/core'
export type { Client, ClientParts } from './client/client.ts'
export { createClient } from './client/createClient.ts'
export type { Block, BlockCommon, BlockHeader, PendingBlock, Withdrawal } from './decode/block.ts'
export { decodeBlock, decodePendingBlock } from './decode/decodeBlock.ts'
export { decodeHeader } from './decode/decodeHeader.ts'
export { decodeHex } from './decode/decodeHex.ts'
export { decodeLog } from './decode/decodeLog.ts'
export { decodeNumber } from './decode/decodeNumber.ts'
export { decodeQuantity } from './decode/decodeQuantity.ts'
export { decodeReceipt } from './decode/decodeReceipt.ts'
export { decodeTransaction } from './decode/decodeTransaction.ts'
export type { Log } from './decode/log.ts'
export type {
  Authorization,
  Eip1559Transaction,
  Eip2930Transaction,
  Eip4844Transaction,
  Eip7702Transaction,
  FeeMarketFields,
  LegacyTransaction,
  OtherTransaction,
  Transaction,
  TransactionCommon,
  TypedSignature,
} from './decode/transaction.ts'
export type { TransactionReceipt } from './decode/transactionReceipt.ts'
export type { TransactionType } from './decode/transactionType.ts'
export type { BlockInput, BlockNumberInput, MinedBlockInput, MinedBlockNumberInput } from './encode/blockInput.ts'
export { encodeBlock } from './encode/encodeBlock.ts'
export { encodeHex } from './encode/encodeHex.ts'
export { encodeQuantity } from './encode/encodeQuantity.ts'
export { encodeTransaction } from './encode/encodeTransaction.ts'
export type { TransactionInput } from './encode/transactionInput.ts'
export { call } from './read/call.ts'
export type { CallInput } from './read/call.ts'
export { estimateGas } from './read/estimateGas.ts'
export { getBalance } from './read/getBalance.ts'
export { getBlock } from './read/getBlock.ts'
export type { GetBlockOptions } from './read/getBlock.ts'
export { getBlockNumber } from './read/getBlockNumber.ts'
export { getChainId } from './read/getChainId.ts'
export { getCode } from './read/getCode.ts'
export { getFeeHistory } from './read/getFeeHistory.ts'
export type { FeeHistory } from './read/getFeeHistory.ts'
export { getGasPrice } from './read/getGasPrice.ts'
export { getLogs } from './read/getLogs.ts'
export type { LogRangeQuery, LogBlockQuery } from './read/getLogs.ts'
export { getStorageAt } from './read/getStorageAt.ts'
export { getTransaction } from './read/getTransaction.ts'
export { getTransactionCount } from './read/getTransactionCount.ts'
export { getTransactionReceipt } from './read/getTransactionReceipt.ts'
export type { ReadClient } from './read/readClient.ts'
export { sendRawTransaction } from './read/sendRawTransaction.ts'
export { waitForTransactionReceipt } from './read/waitForTransactionReceipt.ts'
export type { ReceiptClient, WaitForTransactionReceiptOptions } from './read/waitForTransactionReceipt.ts'
export { iterateLogs } from './logs/iterateLogs.ts'
export type { IterateLogsOptions, LogIterator, LogsClient, LogsProgress } from './logs/iterateLogs.ts'
export type { LogQuery } from './logs/logQuery.ts'
export type { LogCursor } from './logs/logCursor.ts'
export { isReorgError } from './logs/reorgError.ts'
export type { ReorgError } from './logs/reorgError.ts'
export { subscribe } from './subscribe/subscribe.ts'
export type { ReorgEvent, SubscribeClient, SubscribeEvent, SubscribeRequest } from './subscribe/subscribe.ts'
