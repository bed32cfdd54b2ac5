/** The param of a method that pins the response to a chain state, and its kind. */
export interface PinRule {
  /** A block hash, a block by number or hash, a log filter, or a transaction hash. */
  readonly by: 'hash' | 'block' | 'logs' | 'transaction'
  /** The index of the param. */
  readonly at: number
}

const toRules = (names: readonly string[], rule: PinRule): (readonly [string, PinRule])[] =>
  names.map((name) => [name, rule])

/** The methods whose responses may be cached. */
export const pinRules: ReadonlyMap<string, PinRule> = new Map<string, PinRule>([
  ...toRules(
    [
      'eth_getBlockByHash',
      'eth_getHeaderByHash',
      'eth_getBlockTransactionCountByHash',
      'eth_getUncleCountByBlockHash',
      'eth_getUncleByBlockHashAndIndex',
      'eth_getTransactionByBlockHashAndIndex',
      'eth_getRawTransactionByBlockHashAndIndex',
    ],
    { by: 'hash', at: 0 },
  ),
  ...toRules(
    [
      'eth_getBlockByNumber',
      'eth_getHeaderByNumber',
      'eth_getBlockReceipts',
      'eth_getBlockTransactionCountByNumber',
      'eth_getUncleCountByBlockNumber',
      'eth_getUncleByBlockNumberAndIndex',
      'eth_getTransactionByBlockNumberAndIndex',
      'eth_getRawTransactionByBlockNumberAndIndex',
    ],
    { by: 'block', at: 0 },
  ),
  ...toRules(['eth_call', 'eth_getBalance', 'eth_getCode', 'eth_getTransactionCount'], { by: 'block', at: 1 }),
  ...toRules(['eth_getStorageAt', 'eth_getProof'], { by: 'block', at: 2 }),
  ...toRules(['eth_getTransactionByHash', 'eth_getTransactionReceipt'], { by: 'transaction', at: 0 }),
  ['eth_getLogs', { by: 'logs', at: 0 }],
])
