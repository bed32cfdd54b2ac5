export type { Abi, AbiInterface, AbiItem, AbiParameter } from './abi/abi.ts'
export type {
  ContractCall,
  ContractHandlers,
  FunctionHandler,
  MockContract,
  RawHandler,
  RawHandlers,
} from './abi/contract.ts'
export type { SeenCall } from './calls.ts'
export type { MockAccount } from './chain/accountsOf.ts'
export { createMockNode } from './createMockNode.ts'
export type { Personality } from './faults/dialects.ts'
export type { FaultAnswer, FaultKind, FaultOptions, Misbehaviour } from './faults/fault.ts'
export type { MockChainOptions, MockLimits, MockLog, MockNode, MockNodeOptions } from './mockNode.ts'
export { record } from './record/record.ts'
export type { Recording } from './record/record.ts'
export type { RecordedCall, RecordedCalls } from './record/recorded.ts'
export { replay } from './record/replay.ts'
export type { ReplayNode, ReplayOptions } from './record/replay.ts'
