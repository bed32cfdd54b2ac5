import { describe, expect, test } from 'vitest'
import { repeatable } from './repeatable.ts'

const reads = `
  eth_accounts eth_baseFee eth_blobBaseFee eth_blockNumber eth_call eth_callMany eth_chainId eth_coinbase eth_createAccessList eth_estimateGas
  eth_feeHistory eth_gasPrice eth_getBalance eth_getBlockByHash eth_getBlockByNumber eth_getBlockReceipts eth_getBlockTransactionCountByHash
  eth_getCode eth_getFilterLogs eth_getLogs eth_getProof eth_getStorageAt eth_getTransactionByHash eth_getTransactionCount
  eth_getTransactionReceipt eth_getUncleCountByBlockHash eth_hashrate eth_maxPriorityFeePerGas eth_mining eth_protocolVersion eth_simulateV1
  eth_syncing net_version net_listening net_peerCount web3_clientVersion web3_sha3 txpool_content txpool_status
  debug_traceTransaction debug_traceBlockByNumber debug_traceCall debug_getRawBlock debug_getRawReceipts debug_getBadBlocks
  debug_storageRangeAt debug_accountRange debug_dumpBlock debug_executionWitness
  trace_block trace_filter trace_call trace_callMany trace_get trace_transaction trace_replayTransaction trace_rawTransaction
  zks_estimateFee bor_getAuthor alchemy_getTokenBalances linea_estimateGas erigon_getHeaderByNumber foo_isReady foo_hasCode`
const others = `
  eth_sendRawTransaction eth_sendTransaction eth_sendRawTransactionSync eth_sendBundle eth_sign eth_signTransaction eth_signTypedData
  eth_signTypedData_v4 eth_submitWork eth_submitHashrate eth_getFilterChanges eth_newFilter eth_newBlockFilter eth_uninstallFilter
  eth_subscribe eth_unsubscribe eth_cancelBundle eth_resend
  debug_setHead debug_startCPUProfile debug_stopCPUProfile debug_startGoTrace debug_writeMemProfile debug_freeOSMemory debug_verbosity
  debug_chaindbCompact debug_standardTraceBlockToFile
  anvil_mine anvil_setBalance evm_mine evm_revert hardhat_reset personal_unlockAccount personal_sign admin_addPeer wallet_addEthereumChain
  miner_start engine_newPayloadV4 foo_doThings foo_getaway foo_hash foo_issue foo_send_getThings eth_ get eth`

describe('repeatable', () => {
  test.each(reads.trim().split(/\s+/))('%s only reads', (method) => {
    expect(repeatable(method)).toBe(true)
  })

  test.each(others.trim().split(/\s+/))('%s may do something, or is not known', (method) => {
    expect(repeatable(method)).toBe(false)
  })
})
