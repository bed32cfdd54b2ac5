import type { EthereumRpc } from '@keyrail/core'
import { expect, test } from 'vitest'
import type { Client } from '../src/client/client.ts'
import { createClient } from '../src/client/createClient.ts'
import { getBlock } from '../src/read/getBlock.ts'

const failing = '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"execution aborted"}}'
const fetch = async (): Promise<Response> => new Response(failing, { status: 400 })

async function callMethod(client: Client<EthereumRpc>): Promise<void> {
  await client.eth_blockNumber()
}

async function callWithOptions(client: Client<EthereumRpc>): Promise<void> {
  await client.with({ retries: 0 }).eth_chainId()
}

async function readBlock(client: Client<EthereumRpc>): Promise<void> {
  await getBlock(client)
}

test.each([callMethod, callWithOptions, readBlock])(
  'the stack of a failed call names its caller: $name',
  async (call) => {
    await using client = createClient({ url: 'https://node.example/', fetch, retry: false })
    const error = (await call(client).catch((failure: unknown) => failure)) as Error
    expect(error.stack).toMatch(new RegExp(`at (async )?${call.name} .*callSite[.]test[.]ts`))
  },
)
