import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { WagmiProvider } from 'wagmi'
import { App } from './App.tsx'
import { config } from './config.ts'

// The transport retries reads, within a deadline. Retrying here, too, would multiply the calls.
const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } })

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <WagmiProvider config={config}>
      <QueryClientProvider client={queryClient}>
        <App />
      </QueryClientProvider>
    </WagmiProvider>
  </StrictMode>,
)
