import type { NetworkView } from './searchNetworks.ts'

/** A wallet of the browser (EIP-1193). */
export interface Wallet {
  readonly request: (call: { readonly method: string; readonly params: readonly unknown[] }) => Promise<unknown>
}

/** Gets the browser's wallet; `undefined` if there is none. */
export const getWallet = (): Wallet | undefined => {
  const { ethereum } = globalThis as { readonly ethereum?: Partial<Wallet> }
  return typeof ethereum?.request === 'function' ? (ethereum as Wallet) : undefined
}

/**
 * Builds the parameter of `wallet_addEthereumChain`.
 * @param url - The full URL with the key.
 * @see https://eips.ethereum.org/EIPS/eip-3085
 */
export const toWalletChain = ({ chainId, title, symbol, explorerUrl }: NetworkView, url: string) => ({
  chainId: `0x${chainId.toString(16)}`,
  chainName: title,
  nativeCurrency: { name: symbol, symbol, decimals: 18 },
  rpcUrls: [url],
  ...(explorerUrl === null ? {} : { blockExplorerUrls: [explorerUrl] }),
})

/**
 * Asks the wallet to add a network.
 * @returns Why the wallet did not add it; `undefined` if it did.
 */
export const addToWallet = async (network: NetworkView, url: string): Promise<string | undefined> => {
  const wallet = getWallet()
  if (wallet === undefined) return 'This browser has no wallet.'
  try {
    await wallet.request({ method: 'wallet_addEthereumChain', params: [toWalletChain(network, url)] })
    return undefined
  } catch (error) {
    const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
    // 4001: the user rejected the request (EIP-1193).
    if (code === 4001) return 'You rejected the request in the wallet.'
    // A wallet may repeat the URL in its message.
    const reason = typeof message === 'string' ? message.replaceAll(url, 'the URL') : 'no reason given'
    return `The wallet did not add the network: ${reason}`
  }
}
