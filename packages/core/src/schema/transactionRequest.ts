import type { AccessList } from './accessList.ts'
import type { AuthorizationList } from './authorization.ts'
import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/**
 * A transaction to run, fill in, sign or send: what is left out the node chooses. Source: execution-apis, `GenericTransaction`.
 */
export interface TransactionRequest {
  type?: Quantity | undefined
  nonce?: Quantity | undefined
  /** Left out or `null` to create a contract. */
  to?: Address | null | undefined
  from?: Address | undefined
  gas?: Quantity | undefined
  value?: Quantity | undefined
  input?: Bytes | undefined
  /** The old name of `input`; every node still takes it. */
  data?: Bytes | undefined
  gasPrice?: Quantity | undefined
  maxPriorityFeePerGas?: Quantity | undefined
  maxFeePerGas?: Quantity | undefined
  maxFeePerBlobGas?: Quantity | undefined
  accessList?: AccessList | undefined
  blobVersionedHashes?: readonly Hash[] | undefined
  blobs?: readonly Bytes[] | undefined
  commitments?: readonly Bytes[] | undefined
  proofs?: readonly Bytes[] | undefined
  chainId?: Quantity | undefined
  authorizationList?: AuthorizationList | undefined
}
