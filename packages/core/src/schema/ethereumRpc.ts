import type { BlockMethods } from './block.ts'
import type { BlockAccessListMethods } from './blockAccessList.ts'
import type { CapabilitiesMethods } from './capabilities.ts'
import type { ConfigMethods } from './config.ts'
import type { DebugMethods } from './debug.ts'
import type { DebugTraceMethods } from './debugTrace.ts'
import type { ExecutionMethods } from './execution.ts'
import type { FeeMethods } from './fee.ts'
import type { FilterMethods } from './filter.ts'
import type { LogMethods } from './log.ts'
import type { NetMethods } from './net.ts'
import type { NodeMethods } from './node.ts'
import type { ProofMethods } from './proof.ts'
import type { ReceiptMethods } from './receipt.ts'
import type { SimulateMethods } from './simulate.ts'
import type { StateMethods } from './state.ts'
import type { SubmitMethods } from './submit.ts'
import type { TestingMethods } from './testing.ts'
import type { TraceMethods } from './trace.ts'
import type { TransactionMethods } from './transaction.ts'
import type { TxpoolMethods } from './txpool.ts'
import type { Web3Methods } from './web3.ts'

/**
 * Every method of an Ethereum node over HTTP, as a signature. It returns a promise of the JSON-RPC result, with hex strings in place of
 * numbers. If the result depends on the params, there are overloads, from narrow to wide. `eth_subscribe` is missing, because it needs a
 * connection that stays open.
 *
 * Add methods of your own with an intersection.
 *
 * @example
 * interface MyMethods {
 *   my_score(address: `0x${string}`): Promise<number>
 * }
 * type MyRpc = EthereumRpc & MyMethods
 *
 * @see ethereum/execution-apis; each method names its own source
 */
export interface EthereumRpc
  extends
    BlockMethods,
    BlockAccessListMethods,
    TransactionMethods,
    ReceiptMethods,
    LogMethods,
    FilterMethods,
    StateMethods,
    ProofMethods,
    ExecutionMethods,
    SimulateMethods,
    FeeMethods,
    SubmitMethods,
    NodeMethods,
    CapabilitiesMethods,
    ConfigMethods,
    NetMethods,
    Web3Methods,
    TxpoolMethods,
    DebugMethods,
    DebugTraceMethods,
    TraceMethods,
    TestingMethods {}
