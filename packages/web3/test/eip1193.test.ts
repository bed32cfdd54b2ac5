import { createProvider, createTransport } from '@keyrail/core'
import type { KeyrailTransport } from '@keyrail/core'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer } from '@keyrail/core/test/faultServer.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { getError } from '@keyrail/core/test/getFailure.ts'

const address = '0x00000000000000000000000000000000000000AB'
const who = '0x00000000000000000000000000000000000000AA'
const abi = [
  { type: 'function', name: 'owner', stateMutability: 'view', inputs: [], outputs: [{ type: 'address', name: '' }] },
  { type: 'error', name: 'Unauthorized', inputs: [{ type: 'address', name: 'who' }] },
] as const

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

describe('web3.js over createProvider', () => {
  test('reads', async () => {
    expect(await new Web3(createProvider(transport)).eth.getBlockNumber()).toBe(1n)
  })

  test('decodes a custom error in a format that web3.js does not support', async () => {
    const data = `Reverted 0x8e4a23d6${'0'.repeat(62)}aa`
    server.script = raw(200, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32015,"message":"VM error","data":"${data}"}}`)
    const contract = new new Web3(createProvider(transport)).eth.Contract(abi, address)
    const failure = await getError<Error>(contract.methods.owner().call())
    expect(failure).toMatchObject({ cause: { errorName: 'Unauthorized', errorArgs: { who } } })
  })
})

describe('a bare transport', () => {
  test.each([
    ['a read', (web3: Web3) => web3.eth.getBlockNumber()],
    ['a contract', (web3: Web3) => new web3.eth.Contract(abi, address).methods.owner().call()],
    [
      'a batch',
      (web3: Web3) => {
        const batch = new web3.BatchRequest()
        void batch.add({ method: 'eth_blockNumber', params: [] } as never).catch(() => {})
        return batch.execute()
      },
    ],
  ])('passed to web3.js fails with an error that names createProvider: %s', async (_, call) => {
    const failure = await getError<Error>(call(new Web3(transport as never)))
    expect(failure.message).toContain('createProvider(transport)')
    expect(server.seen).toEqual([])
  })
})
