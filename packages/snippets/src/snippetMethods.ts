/** What an example can do, by the name that a program gives it. */
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

/** A value that an example holds at its top, and that its reader will want to be another. */
export type SnippetValue = 'account' | 'block' | 'contract'

/** One of the things that an example can do. */
export interface SnippetMethodEntry {
  readonly id: SnippetMethod
  /** For a list to choose from: a few words that begin with a verb. */
  readonly title: string
  /** The methods of the node that it asks for, the most telling one first. */
  readonly rpc: readonly string[]
  /** What it holds at its top. */
  readonly values: readonly SnippetValue[]
}

/**
 * Everything that an example can do, in the order to offer it in. The first one is the default.
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
]
