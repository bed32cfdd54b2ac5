import { createTransport } from '@keyrail/core'
import { revertForms, rpcError } from '@keyrail/core/test/adapterCases.ts'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { createPublicClient, fallback, HttpRequestError, RpcRequestError } from 'viem'
import type { BaseError, PublicClient } from 'viem'
import { mainnet } from 'viem/chains'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keyrail } from '../src/index.ts'

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

/** With the retries that hold by default, only without their waits. */
const transportOf = (): ReturnType<typeof keyrail> => {
  const transport = createTransport({ url: server.url, chainId: 1, retry: { baseMs: 1 } })
  open.push(transport)
  return keyrail(transport)
}
const failureOf = (call: Promise<unknown>): Promise<BaseError> =>
  call.catch((error: unknown) => error) as Promise<never>
const drop: Script = (_, __, socket) => void socket.destroy()

/** What is answered, and how often a read is then asked: by us, for viem makes none again. */
const answers: readonly (readonly [what: string, requests: number, script: Script])[] = [
  ...revertForms('0x8e4a23d6').map(([form, error]) => [`a revert by ${form}`, 1, rpcError(error)] as const),
  ['a call that runs out of gas', 1, rpcError({ code: -32_000, message: 'out of gas' })],
  ['a method that is not there', 1, rpcError({ code: -32_601, message: 'the method eth_call does not exist' })],
  ['params that are wrong', 1, rpcError({ code: -32_602, message: 'invalid argument 0' })],
  ['a refused key', 1, raw(401, 'no such key')],
  ['a payment', 1, raw(402, 'pay first')],
  ['a forbidden origin', 1, raw(403, 'not from there')],
  ['a throttle by status', 4, raw(429, 'slow down')],
  ['a throttle by code -32005', 4, rpcError({ code: -32_005, message: 'too many requests' })],
  ['a throttle by code 429', 4, rpcError({ code: 429, message: 'too many requests' })],
  ['a gateway in trouble', 4, raw(503, 'down')],
  ['a page in place of an answer', 4, raw(502, '<html>Bad Gateway</html>')],
  ['a connection that breaks', 4, drop],
]

describe('a read is asked as often as its failure deserves', () => {
  test.each(answers)('%s: %i', async (_, requests, script) => {
    server.script = script
    const client = createPublicClient({ chain: mainnet, transport: transportOf() })
    const failure = await failureOf(client.call({ to: address }))
    expect(failure.name).toBe('CallExecutionError')
    expect(server.seen.filter(({ json }) => json.method === 'eth_call')).toHaveLength(requests)
  })

  test.each(answers)('%s, within a fallback: 1', async (_, __, script) => {
    server.script = script
    const client = createPublicClient({ chain: mainnet, transport: fallback([transportOf()], { retryCount: 0 }) })
    expect((await failureOf(client.call({ to: address }))).name).toBe('CallExecutionError')
    expect(server.seen.map(({ json }) => json.method)).toEqual(['eth_call'])
  })
})

// viem 2.57.1 splits no range by itself; later ones do on any failure but these, down to single blocks.
describe('a refused range of logs', () => {
  const getLogs = (): Promise<BaseError> => {
    const client = createPublicClient({
      chain: mainnet,
      transport: keyrail({ url: server.url, chainId: 1, retry: false }),
    })
    return failureOf((client as PublicClient).getLogs({ address, fromBlock: 0n, toBlock: 64n }))
  }

  test.each([
    ['by status', raw(429, 'slow down')],
    ['by code -32005', rpcError({ code: -32_005, message: 'too many requests' })],
    ['by code 429', rpcError({ code: 429, message: 'too many requests' })],
  ])('is a throttle, not a range, where the provider throttles %s', async (_, script) => {
    server.script = script
    const failure = await getLogs()
    expect(failure.walk((one) => one instanceof HttpRequestError)).toMatchObject({ status: 429 })
    expect(server.seen).toHaveLength(1)
  })

  test.each([
    ['a refused key', 401],
    ['a forbidden origin', 403],
  ])('is %s by its status', async (_, status) => {
    server.script = raw(status, 'no')
    const failure = await getLogs()
    expect(failure.walk((one) => one instanceof HttpRequestError)).toMatchObject({ status })
  })

  test('keeps the words of the node, which say what range would do', async () => {
    const message = 'query returned more than 10000 results, try with this block range [0x0, 0x20]'
    server.script = rpcError({ code: -32_005, message })
    const failure = await getLogs()
    expect(failure.walk((one) => one instanceof RpcRequestError)).toMatchObject({ code: -32_005, details: message })
    expect(server.seen).toHaveLength(1)
  })
})
