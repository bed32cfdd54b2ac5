import { createMockNode, onUnhandledFrame } from '@keyrail/msw'
import type { MockContract } from '@keyrail/msw'
import { setupServer } from 'msw/node'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { tokenAbi } from './dapp/token.ts'

/** The endpoint of the dApp. It does not exist: msw intercepts its requests. */
export const endpoint = { baseUrl: 'https://node.example/testnet', apiKey: 'kr_a1234', chainId: 31_337 }
export const token = '0x00000000000000000000000000000000000000aa'
export const shop = '0x00000000000000000000000000000000000000bb'

export const node = createMockNode({ ...endpoint, provider: 'alchemy' })
/** The user of the dApp: an account of the mock node. */
export const user = node.accounts[0]!
export let contract: MockContract<typeof tokenAbi>

const server = setupServer(...node.handlers)
beforeAll(() => server.listen({ onUnhandledFrame }))
afterAll(() => server.close())
beforeEach(() => {
  node.reset()
  contract = node.mockContract(token, tokenAbi, {
    balanceOf: () => 50n,
    transfer([to, value], call) {
      if (value > 50n) call.revert('InsufficientBalance', [call.from, 50n, value])
      call.emit('Transfer', { from: call.from, to, value })
      return true
    },
  })
})
