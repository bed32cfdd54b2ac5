import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { WagmiProvider } from 'wagmi'
import { App } from './App.tsx'
import { config } from './config.ts'

// The transport retries reads, within a deadline. Retrying here, too, would multiply the calls.
const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: false } },
  // The page explains a failure to visitors. The console has the details, without the key.
  queryCache: new QueryCache({ onError: (error) => console.error(error) }),
})

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <WagmiProvider config={config}>
      <QueryClientProvider client={queryClient}>
        <App />
      </QueryClientProvider>
    </WagmiProvider>
  </StrictMode>,
)
