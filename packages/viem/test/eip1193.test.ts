import { createProvider, createTransport } from '@keyrail/core'
import type { KeyrailTransport } from '@keyrail/core'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer } from '@keyrail/core/test/faultServer.ts'
import { BaseError, ContractFunctionRevertedError, createPublicClient, custom, parseAbi } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'

const address = '0x00000000000000000000000000000000000000AB'
const who = '0x00000000000000000000000000000000000000AA'
const abi = parseAbi(['function owner() view returns (address)', 'error Unauthorized(address who)'])

let server: FaultServer
let transport: KeyrailTransport
beforeEach(async () => {
  server = await startFaultServer()
  transport = createTransport({ url: server.url, retry: false })
})
afterEach(async () => {
  transport.close()
  await server.close()
})
/** A revert in a format that viem does not decode without Keyrail. */
const reverts = raw(
  200,
  `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32015,"message":"VM error","data":"Reverted 0x8e4a23d6${'0'.repeat(62)}aa"}}`,
)
const readOwner = (provider: Parameters<typeof custom>[0]): Promise<BaseError> =>
  createPublicClient({ transport: custom(provider, { retryCount: 0 }) })
    .readContract({ abi, address, functionName: 'owner' })
    .then(
      (value) => expect.fail(`resolved with ${value}`),
      (error: unknown) => error as BaseError,
    )

test('custom(createProvider(transport)) reads, and decodes reverts after one request', async () => {
  const provider = createProvider(transport)
  expect(await createPublicClient({ transport: custom(provider) }).getBlockNumber()).toBe(1n)
  server.script = reverts
  const failure = await readOwner(provider)
  expect(failure).toBeInstanceOf(BaseError)
  const reverted = failure.walk((one) => one instanceof ContractFunctionRevertedError)
  expect(reverted).toMatchObject({ data: { errorName: 'Unauthorized', args: [who] } })
  expect(server.seen).toHaveLength(2)
})

test('custom(transport) with a bare transport reads, and its error for a revert names createProvider', async () => {
  expect(await createPublicClient({ transport: custom(transport) }).getBlockNumber()).toBe(1n)
  server.script = reverts
  expect((await readOwner(transport)).message).toContain('createProvider(transport)')
})
