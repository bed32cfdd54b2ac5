import { batch, keyrail } from '@keyrail/viem'
import { createPublicClient, defineChain } from 'viem'

const { VITE_KEYRAIL_BASE_URL: baseUrl, VITE_KEYRAIL_API_KEY: apiKey, VITE_CHAIN_ID: chainId } = import.meta.env

/** The one chain that this page is for. A chain that viem knows comes from `viem/chains` instead. */
export const chain = defineChain({
  id: Number(chainId),
  name: 'Test network',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})

/** Reads by our own key; what is signed goes by the wallet. Reads of one tick are one request. */
export const reader = createPublicClient({
  chain,
  transport: keyrail({ baseUrl, apiKey, chainId: chain.id, batch: batch() }),
})
