import { createTransport } from '@keyrail/core'
import type { TransportOptions } from '@keyrail/core'
import { reply, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { getError } from '@keyrail/core/test/getFailure.ts'
import { createPublicClient, fallback } from 'viem'
import type { PublicClient, Transport } from 'viem'
import { mainnet, sepolia } from 'viem/chains'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { batch, failover, keyrail } from '../src/index.ts'

/** Responds as Keyrail's service does for a network with this chain id. */
const onChain =
  (chainId: number): Script =>
  ({ json }, response) => {
    const calls: readonly { readonly id: number }[] = [json].flat()
    const responses = calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x10' }))
    response.setHeader('x-chain-id', String(chainId))
    response.end(JSON.stringify(Array.isArray(json) ? responses : responses[0]))
  }

let server: FaultServer
beforeEach(async () => {
  server = await startFaultServer(onChain(sepolia.id))
})
afterEach(() => server.close())

const make = (options: object = {}): Transport => keyrail({ url: server.url, ...options } as TransportOptions)
const connect = (transport: Transport, chain: PublicClient['chain'] = mainnet): PublicClient =>
  createPublicClient({ chain, transport })

test('a client of mainnet with the URL of a testnet fails, and does not read the testnet', async () => {
  const error = await getError(connect(make()).getBlockNumber())
  expect(error).toMatchObject({ failure: { kind: 'wrongNetwork', retryable: false } })
  expect(String(error)).toContain(
    'the node is on chain 11155111, but the chain of the viem client (Ethereum) is 1. Check the network of the key, or chainId.',
  )
  expect(server.seen.map(({ json }) => json.method)).toEqual(['eth_blockNumber'])
})

test.each<[how: string, transport: () => Transport]>([
  ['in a batch', () => make({ batch: batch() })],
  ['in fallback', () => fallback([make(), make()])],
  ['over a transport that was passed in', () => keyrail(createTransport({ url: server.url }))],
  ['in a group', () => keyrail(createTransport({ url: server.url }).group() as never)],
])('so does one %s', async (_, create) => {
  const client = connect(create())
  const calls = await Promise.all([getError(client.getBlockNumber()), getError(client.getGasPrice())])
  for (const call of calls) expect(String(call)).toContain('the node is on chain 11155111')
})

test('a client of the right chain reads, and sends no call of its own', async () => {
  expect(await connect(make(), sepolia).getBlockNumber()).toBe(16n)
  expect(server.seen).toHaveLength(1)
})

test('a provider that does not report its chain is not checked', async () => {
  server.script = reply('0x10')
  expect(await connect(make()).getBlockNumber()).toBe(16n)
})

test('with failover, the endpoint on the right chain gets the call', async () => {
  const right = await startFaultServer(onChain(mainnet.id))
  const client = connect(keyrail({ endpoints: failover([{ url: server.url }, { url: right.url }]) }))
  expect(await client.getBlockNumber()).toBe(16n)
  expect([server.seen.length, right.seen.length]).toEqual([1, 1])
  await right.close()
})

test('a local fork of mainnet is named as such, and chainId allows it', async () => {
  server.script = onChain(31337)
  expect(String(await getError(connect(make()).getBlockNumber()))).toContain(
    'If it is a local fork of chain 1, set chainId: 31337.',
  )
  expect(await connect(make({ chainId: 31337 })).getBlockNumber()).toBe(16n)
})

test('one transport for clients of two chains is rejected', () => {
  const transport = make()
  connect(transport)
  connect(transport)
  expect(() => connect(transport, sepolia)).toThrow(
    'One transport cannot serve two chains: the chain of the viem client (Ethereum) is 1, and the chain of the viem client (Sepolia) is 11155111.',
  )
  const local = make({ chainId: 31337 })
  for (const chain of [mainnet, sepolia]) connect(local, chain)
})
