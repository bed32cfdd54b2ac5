import { batch, keyrail } from '@keyrail/viem'
import { createPublicClient, defineChain } from 'viem'

const { VITE_KEYRAIL_BASE_URL: baseUrl, VITE_KEYRAIL_API_KEY: apiKey, VITE_CHAIN_ID: chainId } = import.meta.env

/** The chain of this page. For a well-known chain, import it from `viem/chains` instead. */
export const chain = defineChain({
  id: Number(chainId),
  name: 'Test network',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})

/** Reads with our own API key; transactions are sent by the wallet. Reads of the same tick share one request. */
export const reader = createPublicClient({
  chain,
  transport: keyrail({ baseUrl, apiKey, chainId: chain.id, batch: batch() }),
})
