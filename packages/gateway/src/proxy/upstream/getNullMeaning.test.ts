import { expect, test } from 'vitest'
import { methods } from '../../lib/methods.ts'
import { weightedMethods } from '../method/weights.ts'
import { getNullMeaning } from './getNullMeaning.ts'

test('what a null means is known for each method that a service can offer', () => {
  const by = (wanted: ReturnType<typeof getNullMeaning>): readonly string[] =>
    weightedMethods
      .filter((method) => methods.get(method)?.presets === undefined && getNullMeaning(method) === wanted)
      .toSorted()
  expect({ unconfirmed: by('unconfirmed'), impossible: by('impossible'), valid: by('valid') }).toMatchInlineSnapshot(`
    {
      "impossible": [
        "debug_executionWitness",
        "debug_getRawBlock",
        "debug_getRawHeader",
        "debug_getRawReceipts",
        "debug_intermediateRoots",
        "debug_storageRangeAt",
        "debug_traceBadBlock",
        "debug_traceBlock",
        "eth_accounts",
        "eth_blockNumber",
        "eth_call",
        "eth_capabilities",
        "eth_chainId",
        "eth_coinbase",
        "eth_config",
        "eth_createAccessList",
        "eth_estimateGas",
        "eth_feeHistory",
        "eth_fillTransaction",
        "eth_gasPrice",
        "eth_getAccountInfo",
        "eth_getBalance",
        "eth_getCode",
        "eth_getFilterChanges",
        "eth_getFilterLogs",
        "eth_getLogs",
        "eth_getProof",
        "eth_getStorageAt",
        "eth_getStorageValues",
        "eth_getTransactionCount",
        "eth_hashrate",
        "eth_maxPriorityFeePerGas",
        "eth_mining",
        "eth_newBlockFilter",
        "eth_newFilter",
        "eth_newPendingTransactionFilter",
        "eth_protocolVersion",
        "eth_simulateV1",
        "eth_syncing",
        "eth_uninstallFilter",
        "net_listening",
        "net_peerCount",
        "net_version",
        "trace_call",
        "trace_callMany",
        "trace_filter",
        "trace_rawTransaction",
        "txpool_content",
        "txpool_contentFrom",
        "txpool_inspect",
        "txpool_status",
        "web3_clientVersion",
        "web3_sha3",
      ],
      "unconfirmed": [
        "debug_getRawTransaction",
        "debug_traceBlockByHash",
        "debug_traceBlockByNumber",
        "debug_traceTransaction",
        "eth_getBlockAccessList",
        "eth_getBlockByHash",
        "eth_getBlockByNumber",
        "eth_getBlockReceipts",
        "eth_getBlockTransactionCountByHash",
        "eth_getBlockTransactionCountByNumber",
        "eth_getHeaderByHash",
        "eth_getHeaderByNumber",
        "eth_getRawTransactionByBlockHashAndIndex",
        "eth_getRawTransactionByBlockNumberAndIndex",
        "eth_getRawTransactionByHash",
        "eth_getTransactionByBlockHashAndIndex",
        "eth_getTransactionByBlockNumberAndIndex",
        "eth_getTransactionByHash",
        "eth_getTransactionBySenderAndNonce",
        "eth_getTransactionReceipt",
        "eth_getUncleByBlockHashAndIndex",
        "eth_getUncleByBlockNumberAndIndex",
        "eth_getUncleCountByBlockHash",
        "eth_getUncleCountByBlockNumber",
        "trace_block",
        "trace_get",
        "trace_replayBlockTransactions",
        "trace_replayTransaction",
        "trace_transaction",
      ],
      "valid": [
        "debug_getBadBlocks",
        "debug_getRawBlockAccessList",
        "debug_traceCall",
        "eth_baseFee",
        "eth_blobBaseFee",
        "eth_getAccount",
        "eth_sendRawTransaction",
        "eth_sendRawTransactionSync",
        "eth_subscribe",
        "eth_subscription",
        "eth_unsubscribe",
      ],
    }
  `)
})

test('a null of a method of a preset is a result, or confirmed', () => {
  const ofPresets = weightedMethods.filter((method) => methods.get(method)?.presets !== undefined)
  // It returns an error for a block that the node does not have.
  expect(ofPresets.filter((method) => getNullMeaning(method) === 'impossible')).toEqual([
    'eth_getTransactionReceiptsByBlock',
  ])
})

test('a null of a method that only the node knows is a result', () => {
  expect(getNullMeaning('anvil_mine')).toBe('valid')
})
