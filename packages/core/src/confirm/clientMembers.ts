/**
 * The members that only some clients, or some versions of one, send for the same block, transaction, receipt or log. A comparison ignores them. If
 * two correct nodes are found to differ in another one, add it with its source.
 */
export const clientMembers: ReadonlySet<string> = /* @__PURE__ */ new Set([
  // Logs. geth since 1.16, reth, Erigon, Besu. https://github.com/ethereum/execution-apis/pull/639
  'blockTimestamp',
  // Blocks. Removed from the specification, and still sent for some chains. https://github.com/NethermindEth/nethermind/issues/12007
  'totalDifficulty',
  // Typed transactions. Some clients send both, some one of them. The hash of the transaction covers its signature.
  // https://github.com/besu-eth/besu/pull/6119, https://github.com/erigontech/erigon/issues/8686
  'v',
  'yParity',
  // Receipts of the OP Stack, by version. https://docs.rs/op-alloy-rpc-types/latest/op_alloy_rpc_types/struct.L1BlockInfo.html
  'l1BaseFeeScalar',
  'l1BlobBaseFee',
  'l1BlobBaseFeeScalar',
  'l1Fee',
  'l1FeeScalar',
  'l1GasPrice',
  'l1GasUsed',
  'operatorFeeConstant',
  'operatorFeeScalar',
  // Receipts and blocks of Arbitrum. https://docs.arbitrum.io/sdk/dataEntities/rpc
  'gasUsedForL1',
  'l1BlockNumber',
])
