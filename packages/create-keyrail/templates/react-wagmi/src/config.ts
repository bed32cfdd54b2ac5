import { batch, keyrail } from '@keyrail/viem'
import { defineChain } from 'viem'
import { createConfig, injected } from 'wagmi'

const { env } = import.meta

/** The chain of `keyrail dev`. For a public chain, import it from `viem/chains` instead. */
export const chain = defineChain({
  id: Number(env.VITE_KEYRAIL_CHAIN_ID),
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
      baseUrl: env.VITE_KEYRAIL_BASE_URL,
      // Visitors can read this key: give it an allow list and limits of its own.
      apiKey: env.VITE_KEYRAIL_API_KEY,
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
