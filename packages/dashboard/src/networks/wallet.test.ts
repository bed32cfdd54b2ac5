import { afterEach, expect, test, vi } from 'vitest'
import { addToWallet, getWallet, toWalletChain } from './wallet.ts'

const url = 'https://rpc.example/base/v2/kr_aSecret'
const network = {
  network: 'base',
  chain: 'base',
  title: 'Base Mainnet',
  chainId: 8453,
  symbol: 'ETH',
  testnet: false,
  aliases: [],
  explorerUrl: 'https://basescan.org',
  url: 'https://rpc.example/base',
}
afterEach(() => {
  vi.unstubAllGlobals()
})

test('builds the parameter of EIP-3085', () => {
  expect(toWalletChain(network, url)).toEqual({
    chainId: '0x2105',
    chainName: 'Base Mainnet',
    nativeCurrency: { name: 'ETH', symbol: 'ETH', decimals: 18 },
    rpcUrls: [url],
    blockExplorerUrls: ['https://basescan.org'],
  })
  expect(toWalletChain({ ...network, explorerUrl: null }, url)).not.toHaveProperty('blockExplorerUrls')
})

test('reports a missing wallet', async () => {
  expect(getWallet()).toBeUndefined()
  expect(await addToWallet(network, url)).toBe('This browser has no wallet.')
})

test.each([
  ['the user rejected it', { code: 4001, message: 'no' }, 'You rejected the request in the wallet.'],
  [
    'the wallet repeats the URL',
    { code: -32602, message: `expected https, got ${url}` },
    'The wallet did not add the network: expected https, got the URL',
  ],
  ['there is no message', undefined, 'The wallet did not add the network: no reason given'],
])('explains a failure if %s', async (_case, failure, message) => {
  vi.stubGlobal('ethereum', { request: async () => Promise.reject(failure) })
  expect(await addToWallet(network, url)).toBe(message)
})
