import { createMockNode, onUnhandledFrame } from '@keyrail/msw'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, configure, render, screen } from '@testing-library/react'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { WagmiProvider } from 'wagmi'
import { App } from '../src/App.tsx'
import { chain, config } from '../src/config.ts'
import { token } from '../src/token.ts'

const { env } = import.meta

// A busy machine, such as a CI runner, needs longer than the default of 1 s.
configure({ asyncUtilTimeout: 20_000 })

const node = createMockNode({
  baseUrl: env.VITE_KEYRAIL_BASE_URL,
  apiKey: env.VITE_KEYRAIL_API_KEY,
  chainId: chain.id,
})
const server = setupServer(...node.handlers)

beforeAll(() => server.listen({ onUnhandledFrame }))
afterAll(() => server.close())
beforeEach(() => {
  node.reset()
  node.mockContract(token.address, token.abi, {
    name: () => 'Test Token',
    symbol: () => 'TEST',
    decimals: () => 18,
    balanceOf: () => 15n * 10n ** 17n,
  })
})
afterEach(cleanup)

const show = () =>
  render(
    <WagmiProvider config={config}>
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <App />
      </QueryClientProvider>
    </WagmiProvider>,
  )

test('shows the token and the balance of its owner', async () => {
  show()
  expect(await screen.findByText('The owner has 1.5 TEST')).toBeTruthy()
  expect(screen.getByRole('heading').textContent).toBe('Test Token')
})

test('retries a throttled call', async () => {
  node.fail('throttled')
  show()
  expect(await screen.findByText('The owner has 1.5 TEST')).toBeTruthy()
})

test('explains a wrong key', async () => {
  node.fail('auth', { times: 100 })
  show()
  expect((await screen.findByRole('alert')).textContent).toContain('key')
})
