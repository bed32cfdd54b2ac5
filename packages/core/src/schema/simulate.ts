import type { RpcBlockWithHashes, RpcBlockWithTransactions } from './block.ts'
import type { BlockIdentifier } from './blockTag.ts'
import type { Bytes, Quantity } from './hex.ts'
import type { RpcLog } from './log.ts'
import type { BlockOverrides, StateOverrides } from './override.ts'
import type { TransactionRequest } from './transactionRequest.ts'

/** One block to simulate. Source: execution-apis, `BlockStateCalls`. */
export interface BlockStateCall {
  blockOverrides?: BlockOverrides | undefined
  stateOverrides?: StateOverrides | undefined
  /** Run in order, each on the state that the last one left. */
  calls?: readonly TransactionRequest[] | undefined
}

/** The calls to simulate, without the choice of what to return. Source: execution-apis, `EthSimulatePayload`. */
export interface SimulateFields {
  blockStateCalls: readonly BlockStateCall[]
  /** Reports transfers of ether as ERC-20 logs of `0xeeee…eeee`. @default false */
  traceTransfers?: boolean | undefined
  /** Checks nonces, balances and fees as a real block does. @default false */
  validation?: boolean | undefined
}

/** A simulation that returns the hashes of its transactions. */
export interface SimulateForHashes extends SimulateFields {
  returnFullTransactions?: false | undefined
}

/** A simulation that returns its transactions whole. */
export interface SimulateForTransactions extends SimulateFields {
  returnFullTransactions: true
}

/** The calls to simulate, and what to return. Source: execution-apis, `EthSimulatePayload`. */
export interface SimulatePayload extends SimulateFields {
  /** @default false */
  returnFullTransactions?: boolean | undefined
}

/** A simulated call that went well. Source: execution-apis, `CallResultSuccess`. */
export interface SimulatedCallSuccess {
  status: '0x1'
  returnData: Bytes
  gasUsed: Quantity
  /** The most gas in use at once, refunds aside. */
  maxUsedGas?: Quantity
  logs: RpcLog[]
  error?: undefined
}

/** A simulated call that failed. Source: execution-apis, `CallResultFailure`. */
export interface SimulatedCallFailure {
  status: '0x0'
  returnData: Bytes
  gasUsed: Quantity
  /** The most gas in use at once, refunds aside. */
  maxUsedGas?: Quantity
  /** geth sends it, empty. */
  logs?: RpcLog[]
  error: SimulatedCallError
}

/** Why a simulated call failed: code 3 for a revert, -32015 for the rest. Source: execution-apis, `CallResultFailure`. */
export interface SimulatedCallError {
  code: number
  message: string
  /** The data that the contract passed to `REVERT`. */
  data?: Bytes
}

/** The outcome of a simulated call. Source: execution-apis, `CallResults`. */
export type SimulatedCall = SimulatedCallSuccess | SimulatedCallFailure

/** A simulated block with transaction hashes. Source: execution-apis, `EthSimulateBlockResultSingleSuccess`. */
export interface SimulatedBlockWithHashes extends RpcBlockWithHashes {
  calls: SimulatedCall[]
}

/** A simulated block with full transactions. Source: execution-apis, `EthSimulateBlockResultSingleSuccess`. */
export interface SimulatedBlockWithTransactions extends RpcBlockWithTransactions {
  calls: SimulatedCall[]
}

/** Simulation of blocks. */
export interface SimulateMethods {
  /** Runs calls in made-up blocks on top of a block; returns those blocks with the hashes of their transactions. Source: execution-apis, eth/execute. */
  eth_simulateV1(payload: SimulateForHashes, block?: BlockIdentifier): Promise<SimulatedBlockWithHashes[]>
  /** Runs calls in made-up blocks on top of a block; returns those blocks with their transactions whole. Source: execution-apis, eth/execute. */
  eth_simulateV1(payload: SimulateForTransactions, block?: BlockIdentifier): Promise<SimulatedBlockWithTransactions[]>
  /** Runs calls in made-up blocks on top of a block. Source: execution-apis, eth/execute. */
  eth_simulateV1(
    payload: SimulatePayload,
    block?: BlockIdentifier,
  ): Promise<SimulatedBlockWithHashes[] | SimulatedBlockWithTransactions[]>
}
