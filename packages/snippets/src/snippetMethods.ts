/** The id of an example. */
export type SnippetMethod =
  | 'latestBlock'
  | 'blockByNumber'
  | 'balance'
  | 'transaction'
  | 'receipt'
  | 'contractLogs'
  | 'contractRead'
  | 'gasPrice'
  | 'sendRawTransaction'
  | 'chainId'
  | 'subscribeBlocks'

/** A value at the top of an example that readers will want to change. */
export type SnippetValue = 'account' | 'block' | 'contract'

/** An example, as an entry of a menu. */
export interface SnippetMethodEntry {
  readonly id: SnippetMethod
  /** A short title that starts with a verb. */
  readonly title: string
  /** The JSON-RPC methods that it calls, the most important one first. */
  readonly rpc: readonly string[]
  /** The values at its top. */
  readonly values: readonly SnippetValue[]
}

/**
 * All examples, in menu order. The first one is the default.
 *
 * @example
 * const titles = snippetMethods.map(({ title }) => title)
 */
export const snippetMethods: readonly SnippetMethodEntry[] = [
  { id: 'latestBlock', title: 'Get latest block', rpc: ['eth_getBlockByNumber'], values: [] },
  { id: 'blockByNumber', title: 'Get block by number', rpc: ['eth_getBlockByNumber'], values: ['block'] },
  { id: 'balance', title: 'Get balance', rpc: ['eth_getBalance'], values: ['account'] },
  { id: 'transaction', title: 'Get transaction', rpc: ['eth_getTransactionByHash'], values: [] },
  { id: 'receipt', title: 'Get transaction receipt', rpc: ['eth_getTransactionReceipt'], values: [] },
  { id: 'contractLogs', title: 'Get logs of a contract', rpc: ['eth_getLogs'], values: ['contract'] },
  { id: 'contractRead', title: 'Read a contract', rpc: ['eth_call', 'eth_getCode'], values: ['contract'] },
  { id: 'gasPrice', title: 'Get gas price and fees', rpc: ['eth_gasPrice', 'eth_maxPriorityFeePerGas'], values: [] },
  { id: 'sendRawTransaction', title: 'Send a raw transaction', rpc: ['eth_sendRawTransaction'], values: [] },
  { id: 'chainId', title: 'Get chain id', rpc: ['eth_chainId'], values: [] },
  { id: 'subscribeBlocks', title: 'Subscribe to new blocks', rpc: ['eth_subscribe'], values: [] },
]
