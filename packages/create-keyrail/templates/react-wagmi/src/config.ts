import { batch, keyrail } from '@keyrail/viem'
import { defineChain } from 'viem'
import { createConfig, injected } from 'wagmi'

// Vite replaces `import.meta.env` only where it is written out.
const { VITE_KEYRAIL_BASE_URL: baseUrl, VITE_KEYRAIL_API_KEY: apiKey, VITE_KEYRAIL_CHAIN_ID: chainId } = import.meta.env

/** The chain of `keyrail dev`. For a public chain, import it from `viem/chains` instead. */
export const chain = defineChain({
  id: Number(chainId),
  name: 'Development',
  nativeCurrency: { name: 'Development ether', symbol: 'DEV', decimals: 18 },
  // The transport below has the URL, so that no other code sees the key.
  rpcUrls: { default: { http: [] } },
})

export const config = createConfig({
  chains: [chain],
  connectors: [injected()],
  transports: {
    [chain.id]: keyrail({
      baseUrl,
      // Visitors can read this key: give it an allow list and limits of its own.
      apiKey,
      chainId: chain.id,
      batch: batch(),
    }),
  },
})

declare module 'wagmi' {
  interface Register {
    config: typeof config
  }
}
