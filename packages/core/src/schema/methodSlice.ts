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
  r: 'alchemy_getAssetTransfers alchemy_getTokenAllowance alchemy_getTokenBalances alchemy_getTokenMetadata alchemy_getTransactionReceipts alchemy_simulateAssetChanges alchemy_simulateAssetChangesBundle alchemy_simulateExecution alchemy_simulateExecutionBundle arbtrace_block arbtrace_call arbtrace_callMany arbtrace_filter arbtrace_get arbtrace_replayBlockTransactions arbtrace_replayTransaction arbtrace_transaction bor_getAuthor bor_getCurrentProposer bor_getCurrentValidators bor_getRootHash bor_getSigners bor_getSignersAtHash bor_getSnapshot bor_getSnapshotAtHash debug_accountAt debug_accountInfoAt debug_accountRange debug_chainConfig debug_dumpBlock debug_executionWitness debug_executionWitnessByBlockHash debug_getBadBlocks debug_getModifiedAccountsByHash debug_getModifiedAccountsByNumber debug_getRawBlock debug_getRawBlockAccessList debug_getRawHeader debug_getRawReceipts debug_getRawTransaction debug_getRawTransactions debug_intermediateRoots debug_preimage debug_printBlock debug_storageRangeAt debug_traceBadBlock debug_traceBlock debug_traceBlockByHash debug_traceBlockByNumber debug_traceCallMany debug_traceTransaction erigon_blockNumber erigon_forks erigon_getBalanceChangesInBlock erigon_getBlockByTimestamp erigon_getBlockReceiptsByBlockHash erigon_getHeaderByHash erigon_getHeaderByNumber erigon_getLatestLogs erigon_getLogsByHash erigon_nodeInfo eth_baseFee eth_blobBaseFee eth_blockNumber eth_callBundle eth_callMany eth_capabilities eth_chainId eth_coinbase eth_config eth_estimateUserOperationGas eth_feeHistory eth_fillTransaction eth_gasPrice eth_getAccount eth_getAccountInfo eth_getBalance eth_getBlobSidecarByTxHash eth_getBlobSidecars eth_getBlockAccessList eth_getBlockAccessListByBlockHash eth_getBlockAccessListByBlockNumber eth_getBlockAccessListRaw eth_getBlockByHash eth_getBlockByNumber eth_getBlockReceipts eth_getBlockTransactionCountByHash eth_getBlockTransactionCountByNumber eth_getCode eth_getFinalizedBlock eth_getFinalizedHeader eth_getHeaderByHash eth_getHeaderByNumber eth_getMultiProof eth_getRawTransactionByBlockHashAndIndex eth_getRawTransactionByBlockNumberAndIndex eth_getRawTransactionByHash eth_getRootHash eth_getStorageAt eth_getStorageValues eth_getTransactionByBlockHashAndIndex eth_getTransactionByBlockNumberAndIndex eth_getTransactionByHash eth_getTransactionBySenderAndNonce eth_getTransactionCount eth_getTransactionReceipt eth_getTransactionReceiptsByBlock eth_getUncleByBlockHashAndIndex eth_getUncleByBlockNumberAndIndex eth_getUncleCountByBlockHash eth_getUncleCountByBlockNumber eth_getUserOperationByHash eth_getUserOperationReceipt eth_getWork eth_hashrate eth_maxPriorityFeePerGas eth_mining eth_networkId eth_pendingTransactions eth_protocolVersion eth_supportedEntryPoints eth_syncing hardhat_getAutomine linea_estimateGas linea_getProof linea_getTransactionExclusionStatusV1 net_enode net_listening net_peerCount net_services net_version optimism_outputAtBlock optimism_rollupConfig optimism_safeHeadAtL1Block optimism_syncStatus optimism_version ots_getApiLevel ots_getBlockDetails ots_getBlockDetailsByHash ots_getBlockTransactions ots_getContractCreator ots_getHeaderByNumber ots_getInternalOperations ots_getTransactionBySenderAndNonce ots_getTransactionError ots_hasCode ots_searchTransactionsAfter ots_searchTransactionsBefore ots_traceTransaction parity_getBlockReceipts parity_listStorageKeys parity_pendingTransactions qn_getBlockFromTimestamp qn_getBlockWithReceipts qn_getBlocksInTimestampRange qn_getReceipts qn_getTokenMetadataByContractAddress qn_getTokenMetadataBySymbol qn_getTransactionsByAddress qn_getWalletTokenBalance qn_getWalletTokenTransactions rollup_gasPrices rpc_modules rundler_maxPriorityFeePerGas scroll_estimateL1DataFee trace_block trace_blockOpcodeGas trace_callMany trace_get trace_rawTransaction trace_replayBlockTransactions trace_replayTransaction trace_transaction trace_transactionOpcodeGas txpool_besuPendingTransactions txpool_besuStatistics txpool_besuTransactions txpool_contentFrom txpool_status web3_clientVersion web3_sha3 zks_L1BatchNumber zks_L1ChainId zks_estimateFee zks_estimateGasL1ToL2 zks_getAllAccountBalances zks_getBaseTokenL1Address zks_getBatchFeeInput zks_getBlockDetails zks_getBridgeContracts zks_getBridgehubContract zks_getBytecodeByHash zks_getConfirmedTokens zks_getFeeParams zks_getL1BatchBlockRange zks_getL1BatchDetails zks_getL1GasPrice zks_getL2Multicall3 zks_getL2ToL1LogProof zks_getL2ToL1MsgProof zks_getMainContract zks_getProof zks_getProtocolVersion zks_getRawBlockTransactions zks_getTestnetPaymaster zks_getTimestampAsserter zks_getTokenPrice zks_getTransactionDetails',
  x: 'arbtrace_* debug_* trace_*',
  rc: 'debug_traceCall eth_call eth_estimateGas trace_call',
  rs: 'erigon_getLogs trace_filter',
  rl: 'eth_accounts',
  rxc: 'eth_createAccessList eth_simulateV1',
  sl: 'eth_getFilterChanges',
  rxsl: 'eth_getFilterLogs eth_getLogs',
  rx: 'eth_getProof txpool_content txpool_inspect',
  s: 'eth_newFilter',
  w: 'eth_sendBundle eth_sendPrivateRawTransaction eth_sendPrivateTransaction eth_sendRawTransaction eth_sendRawTransactionConditional eth_sendRawTransactionSync eth_sendTransaction eth_sendUserOperation hmy_sendRawTransaction kaia_sendRawTransaction klay_sendRawTransaction mev_sendBundle zks_sendRawTransactionWithDetailedOutput',
}

/** Methods by how their result contains the number of a block. */
export const headMethods = {
  number: 'eth_blockNumber',
  block: 'eth_getBlockByNumber eth_getHeaderByNumber',
  transaction: 'eth_getTransactionReceipt eth_sendRawTransactionSync',
}

/** Reads by the position of their block, or of their range of blocks. */
export const blockMethods = {
  '0': 'arbtrace_block arbtrace_replayBlockTransactions debug_accountRange debug_dumpBlock debug_executionWitness debug_getRawBlock debug_getRawBlockAccessList debug_getRawHeader debug_getRawReceipts debug_getRawTransactions debug_storageRangeAt debug_traceBlockByNumber erigon_getBalanceChangesInBlock erigon_getHeaderByNumber eth_getBlockAccessList eth_getBlockAccessListByBlockNumber eth_getBlockAccessListRaw eth_getBlockByNumber eth_getBlockReceipts eth_getBlockTransactionCountByNumber eth_getHeaderByNumber eth_getRawTransactionByBlockNumberAndIndex eth_getTransactionByBlockNumberAndIndex eth_getTransactionReceiptsByBlock eth_getUncleByBlockNumberAndIndex eth_getUncleCountByBlockNumber ots_getBlockDetails ots_getHeaderByNumber parity_getBlockReceipts trace_block trace_blockOpcodeGas trace_replayBlockTransactions',
  '1': 'arbtrace_callMany debug_traceCall eth_call eth_createAccessList eth_estimateGas eth_feeHistory eth_getAccount eth_getAccountInfo eth_getBalance eth_getCode eth_getStorageValues eth_getTransactionCount eth_simulateV1 ots_hasCode trace_callMany',
  '2': 'arbtrace_call eth_getProof eth_getStorageAt linea_getProof trace_call',
  range0: 'arbtrace_filter erigon_getLogs eth_getLogs trace_filter',
}

/** Methods whose result can be null at a block that the node has. */
export const nullMethods = {
  valid:
    'arbtrace_block arbtrace_call arbtrace_callMany arbtrace_replayBlockTransactions debug_getRawBlockAccessList debug_traceCall erigon_getBalanceChangesInBlock eth_getAccount eth_getRawTransactionByBlockNumberAndIndex eth_getTransactionByBlockNumberAndIndex eth_getUncleByBlockNumberAndIndex linea_getProof ots_hasCode',
}

/** Methods with results to cache: by the position of their block, by their transaction, or constant on a chain. */
export const cachedMethods = {
  '0': 'debug_traceBlockByHash debug_traceBlockByNumber eth_getBlockByHash eth_getBlockByNumber eth_getBlockReceipts eth_getBlockTransactionCountByHash eth_getBlockTransactionCountByNumber eth_getHeaderByHash eth_getHeaderByNumber eth_getLogs eth_getTransactionByBlockHashAndIndex eth_getTransactionByBlockNumberAndIndex eth_getUncleByBlockHashAndIndex eth_getUncleByBlockNumberAndIndex eth_getUncleCountByBlockHash eth_getUncleCountByBlockNumber trace_block trace_replayBlockTransactions',
  '1': 'eth_call eth_getBalance eth_getCode eth_getTransactionCount',
  '2': 'eth_getProof eth_getStorageAt',
  chain: 'eth_chainId net_version',
  transaction: 'eth_getTransactionByHash eth_getTransactionReceipt trace_transaction',
}

/** Methods by their cost in compute units. */
export const unitMethods = {
  '1': 'eth_accounts eth_chainId eth_protocolVersion eth_syncing net_* web3_*',
  '10': 'eth_baseFee eth_blobBaseFee eth_blockNumber eth_feeHistory eth_gasPrice eth_maxPriorityFeePerGas eth_newBlockFilter eth_uninstallFilter',
  '26': 'eth_call eth_createAccessList eth_estimateGas',
  '40': 'eth_sendRawTransaction eth_sendRawTransactionConditional eth_sendRawTransactionSync eth_simulateV1',
  '75': 'eth_getBlockReceipts eth_getFilterChanges eth_getFilterLogs eth_getLogs eth_getProof',
  '300': 'arbtrace_* debug_* trace_*',
}

/** Methods whose lost response can be looked up, by what. */
export const lookUpMethods = { transaction: 'eth_sendRawTransaction', receipt: 'eth_sendRawTransactionSync' }
