import type { AccessList } from './accessList.ts'
import type { BlockIdentifier } from './blockTag.ts'
import type { Bytes, Quantity } from './hex.ts'
import type { BlockOverrides, StateOverrides } from './override.ts'
import type { TransactionRequest } from './transactionRequest.ts'

/** The access list that a transaction would need. Source: execution-apis, eth/execute. */
export interface AccessListResult {
  accessList: AccessList
  gasUsed: Quantity
  /** Why the transaction would fail. */
  error?: string
}

/** Runs of transactions that change nothing. */
export interface ExecutionMethods {
  /** Runs a call and returns what it returns. The overrides are an extension that all nodes take. Source: execution-apis, eth/execute; geth, eth_call. */
  eth_call(
    transaction: TransactionRequest,
    block?: BlockIdentifier,
    stateOverrides?: StateOverrides,
    blockOverrides?: BlockOverrides,
  ): Promise<Bytes>
  /** The gas that a transaction would need. Source: execution-apis, eth/execute; geth for the overrides. */
  eth_estimateGas(
    transaction: TransactionRequest,
    block?: BlockIdentifier,
    stateOverrides?: StateOverrides,
    blockOverrides?: BlockOverrides,
  ): Promise<Quantity>
  /** The accounts and slots that a transaction would touch. Source: execution-apis, eth/execute; EIP-2930. */
  eth_createAccessList(
    transaction: TransactionRequest,
    block?: BlockIdentifier,
    stateOverrides?: StateOverrides,
  ): Promise<AccessListResult>
}
