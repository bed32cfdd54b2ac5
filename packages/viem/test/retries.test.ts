import { createTransport } from '@keyrail/core'
import { revertForms, rpcError } from '@keyrail/core/test/adapterCases.ts'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { createPublicClient, fallback, HttpRequestError, RpcRequestError } from 'viem'
import type { BaseError, PublicClient } from 'viem'
import { mainnet } from 'viem/chains'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keyrail } from '../src/index.ts'
import { getError } from '@keyrail/core/test/getFailure.ts'

const address = '0x00000000000000000000000000000000000000bb'

let server: FaultServer
const open: { close: () => void }[] = []
beforeEach(async () => {
  server = await startFaultServer()
})
afterEach(async () => {
  for (const transport of open.splice(0)) transport.close()
  await server.close()
})

/** Creates a transport with the default retries, but short delays. */
const openTransport = (): ReturnType<typeof keyrail> => {
  const transport = createTransport({ url: server.url, chainId: 1, retry: { baseMs: 1 } })
  open.push(transport)
  return keyrail(transport)
}
const drop: Script = (_, __, socket) => void socket.destroy()

/** Failures, and how many requests a read then sends. All retries are Keyrail's: viem adds none. */
const failures: readonly (readonly [name: string, requests: number, script: Script])[] = [
  ...revertForms('0x8e4a23d6').map(([form, error]) => [`a revert by ${form}`, 1, rpcError(error)] as const),
  ['a call that runs out of gas', 1, rpcError({ code: -32_000, message: 'out of gas' })],
  ['a method that does not exist', 1, rpcError({ code: -32_601, message: 'the method eth_call does not exist' })],
  ['wrong params', 1, rpcError({ code: -32_602, message: 'invalid argument 0' })],
  ['a rejected key', 1, raw(401, 'no such key')],
  ['a payment request', 1, raw(402, 'pay first')],
  ['a forbidden origin', 1, raw(403, 'not from there')],
  ['a throttle by status', 4, raw(429, 'slow down')],
  ['a throttle by code -32005', 4, rpcError({ code: -32_005, message: 'too many requests' })],
  ['a throttle by code 429', 4, rpcError({ code: 429, message: 'too many requests' })],
  ['a gateway that is down', 4, raw(503, 'down')],
  ['a page instead of a response', 4, raw(502, '<html>Bad Gateway</html>')],
  ['a connection that breaks', 4, drop],
]

describe('the requests of a read that fails', () => {
  test.each(failures)('%s: %i', async (_, requests, script) => {
    server.script = script
    const client = createPublicClient({ chain: mainnet, transport: openTransport() })
    const failure = await getError<BaseError>(client.call({ to: address }))
    expect(failure.name).toBe('CallExecutionError')
    expect(server.seen.filter(({ json }) => json.method === 'eth_call')).toHaveLength(requests)
  })

  test.each(failures)('%s, within a fallback: 1', async (_, __, script) => {
    server.script = script
    const client = createPublicClient({ chain: mainnet, transport: fallback([openTransport()], { retryCount: 0 }) })
    expect((await getError<BaseError>(client.call({ to: address }))).name).toBe('CallExecutionError')
    expect(server.seen.map(({ json }) => json.method)).toEqual(['eth_call'])
  })
})

// viem 2.57.1 does not split ranges. Later versions do after any failure except these, down to single blocks.
describe('a rejected range of logs', () => {
  const getLogs = (): Promise<BaseError> => {
    const client = createPublicClient({
      chain: mainnet,
      transport: keyrail({ url: server.url, chainId: 1, retry: false }),
    })
    return getError<BaseError>((client as PublicClient).getLogs({ address, fromBlock: 0n, toBlock: 64n }))
  }

  test.each([
    ['by status', raw(429, 'slow down')],
    ['by code -32005', rpcError({ code: -32_005, message: 'too many requests' })],
    ['by code 429', rpcError({ code: 429, message: 'too many requests' })],
  ])('is reported as throttling if the provider throttles %s', async (_, script) => {
    server.script = script
    const failure = await getLogs()
    expect(failure.walk((one) => one instanceof HttpRequestError)).toMatchObject({ status: 429 })
    expect(server.seen).toHaveLength(1)
  })

  test.each([
    ['a rejected key', 401],
    ['a forbidden origin', 403],
  ])('is reported with the status of %s', async (_, status) => {
    server.script = raw(status, 'no')
    const failure = await getLogs()
    expect(failure.walk((one) => one instanceof HttpRequestError)).toMatchObject({ status })
  })

  test('keeps the message of the node, which names a range that works', async () => {
    const message = 'query returned more than 10000 results, try with this block range [0x0, 0x20]'
    server.script = rpcError({ code: -32_005, message })
    const failure = await getLogs()
    expect(failure.walk((one) => one instanceof RpcRequestError)).toMatchObject({ code: -32_005, details: message })
    expect(server.seen).toHaveLength(1)
  })
})
