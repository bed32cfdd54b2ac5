// Written by `npm run methods` from methods.json of core. Do not edit it.

/**
 * The name of every method of {@link EthereumRpc}, for what needs them at run time: a completion, a check of a setting.
 *
 * @example
 * const known: readonly string[] = methodNames
 * known.includes('eth_blockNumber') // true
 */
export const methodNames = [
  'debug_executionWitness',
  'debug_getBadBlocks',
  'debug_getRawBlock',
  'debug_getRawBlockAccessList',
  'debug_getRawHeader',
  'debug_getRawReceipts',
  'debug_getRawTransaction',
  'debug_intermediateRoots',
  'debug_storageRangeAt',
  'debug_traceBadBlock',
  'debug_traceBlock',
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'debug_traceCall',
  'debug_traceTransaction',
  'eth_accounts',
  'eth_baseFee',
  'eth_blobBaseFee',
  'eth_blockNumber',
  'eth_call',
  'eth_capabilities',
  'eth_chainId',
  'eth_coinbase',
  'eth_config',
  'eth_createAccessList',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_fillTransaction',
  'eth_gasPrice',
  'eth_getAccount',
  'eth_getAccountInfo',
  'eth_getBalance',
  'eth_getBlockAccessList',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByHash',
  'eth_getBlockTransactionCountByNumber',
  'eth_getCode',
  'eth_getFilterChanges',
  'eth_getFilterLogs',
  'eth_getHeaderByHash',
  'eth_getHeaderByNumber',
  'eth_getLogs',
  'eth_getProof',
  'eth_getRawTransactionByBlockHashAndIndex',
  'eth_getRawTransactionByBlockNumberAndIndex',
  'eth_getRawTransactionByHash',
  'eth_getStorageAt',
  'eth_getStorageValues',
  'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getTransactionByHash',
  'eth_getTransactionBySenderAndNonce',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_getUncleByBlockHashAndIndex',
  'eth_getUncleByBlockNumberAndIndex',
  'eth_getUncleCountByBlockHash',
  'eth_getUncleCountByBlockNumber',
  'eth_getWork',
  'eth_hashrate',
  'eth_maxPriorityFeePerGas',
  'eth_mining',
  'eth_newBlockFilter',
  'eth_newFilter',
  'eth_newPendingTransactionFilter',
  'eth_pendingTransactions',
  'eth_protocolVersion',
  'eth_sendRawTransaction',
  'eth_sendRawTransactionSync',
  'eth_sendTransaction',
  'eth_sign',
  'eth_signTransaction',
  'eth_signTypedData_v4',
  'eth_simulateV1',
  'eth_submitHashrate',
  'eth_submitWork',
  'eth_syncing',
  'eth_uninstallFilter',
  'net_listening',
  'net_peerCount',
  'net_version',
  'testing_buildBlockV1',
  'trace_block',
  'trace_call',
  'trace_callMany',
  'trace_filter',
  'trace_get',
  'trace_rawTransaction',
  'trace_replayBlockTransactions',
  'trace_replayTransaction',
  'trace_transaction',
  'txpool_content',
  'txpool_contentFrom',
  'txpool_inspect',
  'txpool_status',
  'web3_clientVersion',
  'web3_sha3',
] as const

/** Methods by their flags: `r` read, `w` write, `x` expensive, `c` runs code of a contract, `s` searches a range, `l` null is an empty list. */
export const callMethods = {
  r: 'alchemy_getAssetTransfers getTokenAllowance getTokenBalances getTokenMetadata getTransactionReceipts simulateAssetChanges simulateAssetChangesBundle simulateExecution simulateExecutionBundle arbtrace_block call callMany filter get replayBlockTransactions replayTransaction transaction bor_getAuthor getCurrentProposer getCurrentValidators getRootHash getSigners getSignersAtHash getSnapshot getSnapshotAtHash debug_accountAt accountInfoAt accountRange chainConfig dumpBlock executionWitness executionWitnessByBlockHash getBadBlocks getModifiedAccountsByHash getModifiedAccountsByNumber getRawBlock getRawBlockAccessList getRawHeader getRawReceipts getRawTransaction getRawTransactions intermediateRoots preimage printBlock storageRangeAt traceBadBlock traceBlock traceBlockByHash traceBlockByNumber traceCallMany traceTransaction erigon_blockNumber forks getBalanceChangesInBlock getBlockByTimestamp getBlockReceiptsByBlockHash getHeaderByHash getHeaderByNumber getLatestLogs getLogsByHash nodeInfo eth_baseFee blobBaseFee blockNumber callBundle callMany capabilities chainId coinbase config estimateUserOperationGas feeHistory fillTransaction gasPrice getAccount getAccountInfo getBalance getBlobSidecarByTxHash getBlobSidecars getBlockAccessList getBlockAccessListByBlockHash getBlockAccessListByBlockNumber getBlockAccessListRaw getBlockByHash getBlockByNumber getBlockReceipts getBlockTransactionCountByHash getBlockTransactionCountByNumber getCode getFinalizedBlock getFinalizedHeader getHeaderByHash getHeaderByNumber getMultiProof getRawTransactionByBlockHashAndIndex getRawTransactionByBlockNumberAndIndex getRawTransactionByHash getRootHash getStorageAt getStorageValues getTransactionByBlockHashAndIndex getTransactionByBlockNumberAndIndex getTransactionByHash getTransactionBySenderAndNonce getTransactionCount getTransactionReceipt getTransactionReceiptsByBlock getUncleByBlockHashAndIndex getUncleByBlockNumberAndIndex getUncleCountByBlockHash getUncleCountByBlockNumber getUserOperationByHash getUserOperationReceipt getWork hashrate maxPriorityFeePerGas mining networkId pendingTransactions protocolVersion supportedEntryPoints syncing hardhat_getAutomine linea_estimateGas getProof getTransactionExclusionStatusV1 net_enode listening peerCount services version optimism_outputAtBlock rollupConfig safeHeadAtL1Block syncStatus version ots_getApiLevel getBlockDetails getBlockDetailsByHash getBlockTransactions getContractCreator getHeaderByNumber getInternalOperations getTransactionBySenderAndNonce getTransactionError hasCode searchTransactionsAfter searchTransactionsBefore traceTransaction parity_getBlockReceipts listStorageKeys pendingTransactions qn_getBlockFromTimestamp getBlockWithReceipts getBlocksInTimestampRange getReceipts getTokenMetadataByContractAddress getTokenMetadataBySymbol getTransactionsByAddress getWalletTokenBalance getWalletTokenTransactions rollup_gasPrices rpc_modules rundler_maxPriorityFeePerGas scroll_estimateL1DataFee trace_block blockOpcodeGas callMany get rawTransaction replayBlockTransactions replayTransaction transaction transactionOpcodeGas txpool_besuPendingTransactions besuStatistics besuTransactions contentFrom status web3_clientVersion sha3 zks_L1BatchNumber L1ChainId estimateFee estimateGasL1ToL2 getAllAccountBalances getBaseTokenL1Address getBatchFeeInput getBlockDetails getBridgeContracts getBridgehubContract getBytecodeByHash getConfirmedTokens getFeeParams getL1BatchBlockRange getL1BatchDetails getL1GasPrice getL2Multicall3 getL2ToL1LogProof getL2ToL1MsgProof getMainContract getProof getProtocolVersion getRawBlockTransactions getTestnetPaymaster getTimestampAsserter getTokenPrice getTransactionDetails',
  x: 'arbtrace_* debug_* trace_*',
  rc: 'debug_traceCall eth_call estimateGas trace_call',
  rs: 'erigon_getLogs trace_filter',
  rl: 'eth_accounts',
  rxc: 'eth_createAccessList simulateV1',
  sl: 'eth_getFilterChanges',
  rxsl: 'eth_getFilterLogs getLogs',
  rx: 'eth_getProof txpool_content inspect',
  s: 'eth_newFilter',
  w: 'eth_sendBundle sendPrivateRawTransaction sendPrivateTransaction sendRawTransaction sendRawTransactionConditional sendRawTransactionSync sendTransaction sendUserOperation hmy_sendRawTransaction kaia_sendRawTransaction klay_sendRawTransaction mev_sendBundle zks_sendRawTransactionWithDetailedOutput',
}

/** Methods by how their result contains the number of a block. */
export const headMethods = {
  number: 'eth_blockNumber',
  block: 'eth_getBlockByNumber getHeaderByNumber',
  transaction: 'eth_getTransactionReceipt sendRawTransactionSync',
}

/** Reads by the position of their block, or of their range of blocks. */
export const blockMethods = {
  '0': 'arbtrace_block replayBlockTransactions debug_accountRange dumpBlock executionWitness getRawBlock getRawBlockAccessList getRawHeader getRawReceipts getRawTransactions storageRangeAt traceBlockByNumber erigon_getBalanceChangesInBlock getHeaderByNumber eth_getBlockAccessList getBlockAccessListByBlockNumber getBlockAccessListRaw getBlockByNumber getBlockReceipts getBlockTransactionCountByNumber getHeaderByNumber getRawTransactionByBlockNumberAndIndex getTransactionByBlockNumberAndIndex getTransactionReceiptsByBlock getUncleByBlockNumberAndIndex getUncleCountByBlockNumber ots_getBlockDetails getHeaderByNumber parity_getBlockReceipts trace_block blockOpcodeGas replayBlockTransactions',
  '1': 'arbtrace_callMany debug_traceCall eth_call createAccessList estimateGas feeHistory getAccount getAccountInfo getBalance getCode getStorageValues getTransactionCount simulateV1 ots_hasCode trace_callMany',
  '2': 'arbtrace_call eth_getProof getStorageAt linea_getProof trace_call',
  range0: 'arbtrace_filter erigon_getLogs eth_getLogs trace_filter',
}

/** Methods whose result can be null at a block that the node has. */
export const nullMethods = {
  valid:
    'arbtrace_block call callMany replayBlockTransactions debug_getRawBlockAccessList traceCall erigon_getBalanceChangesInBlock eth_getAccount getRawTransactionByBlockNumberAndIndex getTransactionByBlockNumberAndIndex getUncleByBlockNumberAndIndex linea_getProof ots_hasCode',
}

/** Methods with results to cache: by the position of their block, by their transaction, or constant on a chain. */
export const cachedMethods = {
  '0': 'debug_traceBlockByHash traceBlockByNumber eth_getBlockByHash getBlockByNumber getBlockReceipts getBlockTransactionCountByHash getBlockTransactionCountByNumber getHeaderByHash getHeaderByNumber getLogs getTransactionByBlockHashAndIndex getTransactionByBlockNumberAndIndex getUncleByBlockHashAndIndex getUncleByBlockNumberAndIndex getUncleCountByBlockHash getUncleCountByBlockNumber trace_block replayBlockTransactions',
  '1': 'eth_call getBalance getCode getTransactionCount',
  '2': 'eth_getProof getStorageAt',
  chain: 'eth_chainId net_version',
  transaction: 'eth_getTransactionByHash getTransactionReceipt trace_transaction',
}

/** Methods by their cost in compute units. */
export const unitMethods = {
  '1': 'eth_accounts chainId protocolVersion syncing net_* web3_*',
  '10': 'eth_baseFee blobBaseFee blockNumber feeHistory gasPrice maxPriorityFeePerGas newBlockFilter uninstallFilter',
  '26': 'eth_call createAccessList estimateGas',
  '40': 'eth_sendRawTransaction sendRawTransactionConditional sendRawTransactionSync simulateV1',
  '75': 'eth_getBlockReceipts getFilterChanges getFilterLogs getLogs getProof',
  '300': 'arbtrace_* debug_* trace_*',
}

/** Methods whose lost response can be looked up, by what. */
export const lookUpMethods = { transaction: 'eth_sendRawTransaction', receipt: 'eth_sendRawTransactionSync' }

/** Methods whose result is a quantity. */
export const quantityMethods = {
  result:
    'eth_estimateGas getBalance getBlockTransactionCountByHash getBlockTransactionCountByNumber getStorageAt getTransactionCount getUncleCountByBlockHash getUncleCountByBlockNumber',
}
