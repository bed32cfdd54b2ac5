import { expect, test } from 'vitest'
import { KeyrailProvider } from '../src/keyrailProvider.ts'

const failing = '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"execution aborted"}}'
const fetch = async (): Promise<Response> => new Response(failing, { status: 400 })

async function getNumber(provider: KeyrailProvider): Promise<void> {
  await provider.getBlockNumber()
}

async function sendRaw(provider: KeyrailProvider): Promise<void> {
  await provider.send('eth_chainId', [])
}

test.each([getNumber, sendRaw])('the stack of a failed call names its caller: $name', async (call) => {
  const provider = new KeyrailProvider({ url: 'https://node.example/', fetch, retry: false, chainId: 1 })
  const error = (await call(provider).catch((thrown: unknown) => thrown)) as Error & { readonly failure?: Error }
  provider.destroy()
  const caller = new RegExp(`at (async )?${call.name} .*callSite[.]test[.]ts`)
  expect(error.stack).toMatch(caller)
  expect(error.failure?.stack).toMatch(caller)
})
