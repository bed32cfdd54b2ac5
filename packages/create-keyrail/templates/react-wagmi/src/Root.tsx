import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { WagmiProvider } from 'wagmi'
import { App } from './App.tsx'
import { config } from './config.ts'

// The transport retries reads, within a deadline. Retrying here, too, would multiply the calls.
const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: false } },
  // The page explains a failure to visitors. The console has the details, without the key.
  queryCache: new QueryCache({ onError: (error) => console.error(error) }),
})

/** The page with its providers. */
export default function Root() {
  return (
    <WagmiProvider config={config}>
      <QueryClientProvider client={queryClient}>
        <App />
      </QueryClientProvider>
    </WagmiProvider>
  )
}
