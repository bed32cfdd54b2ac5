import { createProvider, createTransport } from '@keyrail/core'
import type { KeyrailTransport } from '@keyrail/core'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer } from '@keyrail/core/test/faultServer.ts'
import { BrowserProvider, Contract, Interface } from 'ethers'
import { afterEach, beforeEach, expect, test } from 'vitest'

const address = '0x00000000000000000000000000000000000000AB'
const who = '0x00000000000000000000000000000000000000AA'
const abi = new Interface(['function owner() view returns (address)', 'error Unauthorized(address who)'])

let server: FaultServer
let transport: KeyrailTransport
let provider: BrowserProvider | undefined
beforeEach(async () => {
  server = await startFaultServer()
  transport = createTransport({ url: server.url, retry: false })
})
afterEach(async () => {
  provider?.destroy()
  transport.close()
  await server.close()
})

test('BrowserProvider over createProvider reads, and decodes reverts', async () => {
  provider = new BrowserProvider(createProvider(transport))
  expect(await provider.getBlockNumber()).toBe(1)
  expect((await provider.getNetwork()).chainId).toBe(1n)
  const data = `Reverted ${abi.encodeErrorResult('Unauthorized', [who])}`
  server.script = raw(200, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32015,"message":"VM error","data":"${data}"}}`)
  const owner = new Contract(address, abi, provider).getFunction('owner')
  // BrowserProvider requests the chain id again before each call.
  const revert = server.script
  server.script = (seen, response, socket) =>
    seen.json.method === 'eth_call'
      ? revert(seen, response, socket)
      : raw(200, '{"jsonrpc":"2.0","id":$ID,"result":"0x1"}')(seen, response, socket)
  await expect(owner()).rejects.toMatchObject({
    code: 'CALL_EXCEPTION',
    revert: { name: 'Unauthorized', args: [who] },
  })
})
