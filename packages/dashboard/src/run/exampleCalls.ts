import type { SnippetMethod, SnippetValues } from '@keyrail/snippets'

/** A JSON-RPC call. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** Builds a request, a call or a batch of calls, from the result of the request before it. */
export type RequestStep = (result?: unknown) => RpcCall | readonly RpcCall[]

const call = (method: string, ...params: readonly unknown[]): RpcCall => ({ method, params })

const noHash = `0x${'0'.repeat(64)}`

/** The hash of a transaction; zeros, which no transaction has, if the latest block has none. */
const getHash = (transaction: unknown): string =>
  (transaction as { readonly hash?: string } | null | undefined)?.hash ?? noHash

const toHex = (value: number): string => `0x${value.toString(16)}`

const firstTransaction: RequestStep = () => call('eth_getTransactionByBlockNumberAndIndex', 'latest', '0x0')

/**
 * Gets the requests of an example, in order: those that its program for curl makes.
 * @returns `undefined` if a page cannot run it.
 */
export function getRequestSteps(
  method: SnippetMethod,
  {
    account = `0x${'0'.repeat(40)}`,
    block = 0,
    contract = '0xcA11bde05977b3631167028862bE2a173976CA11',
  }: SnippetValues,
): readonly RequestStep[] | undefined {
  const steps: Readonly<Record<SnippetMethod, readonly RequestStep[] | undefined>> = {
    latestBlock: [() => call('eth_getBlockByNumber', 'latest', false)],
    blockByNumber: [() => call('eth_getBlockByNumber', toHex(block), false)],
    balance: [() => call('eth_getBalance', account, 'latest')],
    transaction: [firstTransaction, (found) => call('eth_getTransactionByHash', getHash(found))],
    receipt: [firstTransaction, (found) => call('eth_getTransactionReceipt', getHash(found))],
    contractLogs: [
      () => call('eth_blockNumber'),
      (head) => {
        const fromBlock = toHex(Math.max(0, Number(head) - 99))
        return call('eth_getLogs', { address: contract, fromBlock, toBlock: head })
      },
    ],
    contractRead: [() => call('eth_call', { to: contract, data: '0x18160ddd' }, 'latest')],
    gasPrice: [() => [call('eth_gasPrice'), call('eth_maxPriorityFeePerGas')]],
    // A page has no private key to sign with.
    sendRawTransaction: undefined,
    chainId: [() => call('eth_chainId')],
    // Notifications need a WebSocket that stays open.
    subscribeBlocks: undefined,
  }
  return steps[method]
}
