/** Which of a method's params says what state of the chain its answer is of, and what stands there. */
export interface PinRule {
  /** A block's hash, a block by number or hash, a filter of logs, or a transaction's hash. */
  readonly by: 'hash' | 'block' | 'logs' | 'transaction'
  /** The place of that param. */
  readonly at: number
}

const rulesOf = (names: readonly string[], rule: PinRule): (readonly [string, PinRule])[] =>
  names.map((name) => [name, rule])

/** The methods whose answers may be kept. What is not here never is. */
export const pinRules: ReadonlyMap<string, PinRule> = new Map<string, PinRule>([
  ...rulesOf(
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
  ...rulesOf(
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
  ...rulesOf(['eth_call', 'eth_getBalance', 'eth_getCode', 'eth_getTransactionCount'], { by: 'block', at: 1 }),
  ...rulesOf(['eth_getStorageAt', 'eth_getProof'], { by: 'block', at: 2 }),
  ...rulesOf(['eth_getTransactionByHash', 'eth_getTransactionReceipt'], { by: 'transaction', at: 0 }),
  ['eth_getLogs', { by: 'logs', at: 0 }],
])
