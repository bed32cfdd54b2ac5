/** The param of a method that names a block. */
export interface BlockParam {
  /** A block by number, tag or hash, or an object with `fromBlock` and `toBlock`. */
  readonly by: 'block' | 'range'
  /** The index of the param. */
  readonly at: number
}

const toParams = (names: readonly string[], param: BlockParam): (readonly [string, BlockParam])[] =>
  names.map((name) => [name, param])

/** The methods that read a block by its number: a node without the block cannot serve them. Which of their responses may be cached is in `pinRules`. */
export const blockParams: ReadonlyMap<string, BlockParam> = new Map<string, BlockParam>([
  ...toParams(
    [
      'debug_executionWitness',
      'debug_getRawBlock',
      'debug_getRawBlockAccessList',
      'debug_getRawHeader',
      'debug_getRawReceipts',
      'debug_intermediateRoots',
      'debug_storageRangeAt',
      'debug_traceBlockByNumber',
      'eth_getBlockAccessList',
      'eth_getBlockByNumber',
      'eth_getBlockReceipts',
      'eth_getBlockTransactionCountByNumber',
      'eth_getHeaderByNumber',
      'eth_getRawTransactionByBlockNumberAndIndex',
      'eth_getTransactionByBlockNumberAndIndex',
      'eth_getUncleByBlockNumberAndIndex',
      'eth_getUncleCountByBlockNumber',
      'trace_block',
      'trace_replayBlockTransactions',
    ],
    { by: 'block', at: 0 },
  ),
  ...toParams(
    [
      'debug_traceCall',
      'eth_call',
      'eth_createAccessList',
      'eth_estimateGas',
      'eth_feeHistory',
      'eth_getAccount',
      'eth_getAccountInfo',
      'eth_getBalance',
      'eth_getCode',
      'eth_getStorageValues',
      'eth_getTransactionCount',
      'eth_simulateV1',
      'trace_callMany',
    ],
    { by: 'block', at: 1 },
  ),
  ...toParams(['eth_getProof', 'eth_getStorageAt', 'trace_call'], { by: 'block', at: 2 }),
  ...toParams(['eth_getLogs', 'eth_newFilter', 'trace_filter'], { by: 'range', at: 0 }),
])
