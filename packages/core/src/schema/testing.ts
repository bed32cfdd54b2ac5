import type { Address, Bytes, Hash, Quantity } from './hex.ts'
import type { RpcWithdrawal } from './withdrawal.ts'

/** The contents of a block to build. Source: execution-apis, testing_buildBlockV1; Engine API, `PayloadAttributesV3`. */
export interface PayloadAttributes {
  timestamp?: Quantity | undefined
  prevRandao?: Hash | undefined
  suggestedFeeRecipient?: Address | undefined
  withdrawals?: readonly RpcWithdrawal[] | undefined
  parentBeaconBlockRoot?: Hash | undefined
  /** Since Amsterdam, Engine API `PayloadAttributesV4`. */
  slotNumber?: Quantity | undefined
}

/** A block as the consensus layer sees it. Source: Engine API, `ExecutionPayloadV3`. */
export interface ExecutionPayload {
  parentHash: Hash
  feeRecipient: Address
  stateRoot: Hash
  receiptsRoot: Hash
  logsBloom: Bytes
  prevRandao: Hash
  blockNumber: Quantity
  gasLimit: Quantity
  gasUsed: Quantity
  timestamp: Quantity
  extraData: Bytes
  baseFeePerGas: Quantity
  blockHash: Hash
  transactions: Bytes[]
  withdrawals: RpcWithdrawal[]
  blobGasUsed: Quantity
  excessBlobGas: Quantity
  /** Since Amsterdam, Engine API `ExecutionPayloadV4`. */
  blockAccessList?: Bytes
  /** Since Amsterdam, Engine API `ExecutionPayloadV4`. */
  slotNumber?: Quantity
}

/** The blobs of a block. Source: Engine API, `BlobsBundleV2`. */
export interface BlobsBundle {
  commitments: Bytes[]
  proofs: Bytes[]
  blobs: Bytes[]
}

/** A block that was built. Source: execution-apis, testing_buildBlockV1. */
export interface BuiltBlock {
  executionPayload: ExecutionPayload
  /** The earnings of the fee recipient, in wei. */
  blockValue: Quantity
  blobsBundle: BlobsBundle
  shouldOverrideBuilder: boolean
  /** EIP-7685. */
  executionRequests?: Bytes[]
}

/** For test fixtures only: no public node serves these. */
export interface TestingMethods {
  /** Builds a block on a parent from these transactions, or from the pool if they are `null`. Source: execution-apis, testing. */
  testing_buildBlockV1(
    parentHash: Hash,
    payloadAttributes: PayloadAttributes,
    transactions: readonly Bytes[] | null,
    extraData?: Bytes | null,
  ): Promise<BuiltBlock>
}
