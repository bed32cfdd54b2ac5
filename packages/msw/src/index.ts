export type { Abi, AbiInterface, AbiItem, AbiParameter } from './abi/abi.ts'
export type {
  ContractCall,
  ContractHandlers,
  FunctionHandler,
  MockContract,
  RawHandler,
  RawHandlers,
} from './abi/contract.ts'
export type { MockAccount } from './chain/createAccounts.ts'
export { createMockNode } from './createMockNode.ts'
export type { FaultKind, FaultOptions, FaultResponse } from './faults/fault.ts'
export type { ProviderName } from './faults/providers.ts'
export type { MockChainOptions, MockLimits, MockLog, MockNode, MockNodeOptions } from './mockNode.ts'
export type { ReceivedCall } from './receivedCall.ts'
export type { DisconnectOptions } from './socket/createSocketServer.ts'
export type { NotificationFault, NotificationFaultOptions, SubscriptionKind } from './socket/notificationFaults.ts'
export { onUnhandledFrame } from './http/onUnhandledFrame.ts'
export { record } from './record/record.ts'
export type { Recording } from './record/record.ts'
export type { RecordedCall, RecordedCalls } from './record/recorded.ts'
export { replay } from './record/replay.ts'
export type { ReplayNode, ReplayOptions } from './record/replay.ts'
