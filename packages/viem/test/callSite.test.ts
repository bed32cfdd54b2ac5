import { createPublicClient, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { keyrail } from '../src/keyrail.ts'

const failing = '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"execution aborted"}}'
const fetch = async (): Promise<Response> => new Response(failing, { status: 400 })

// viem starts each attempt of a plain action, such as getBlockNumber, in a promise that is not awaited, so no error names its caller.
test('the stack of a failed readContract names the file that called it', async () => {
  const client = createPublicClient({ transport: keyrail({ url: 'https://node.example/', fetch, retry: false }) })
  async function readTotal(): Promise<void> {
    await client.readContract({
      address: '0x0000000000000000000000000000000000000001',
      abi: parseAbi(['function total() view returns (uint256)']),
      functionName: 'total',
    })
  }
  const error = (await readTotal().catch((thrown: unknown) => thrown)) as Error
  expect(error.stack).toMatch(/at (async )?readTotal .*callSite[.]test[.]ts/)
})
