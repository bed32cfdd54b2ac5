import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cache } from '../src/transport/cache.ts'
import { coalesce } from '../src/transport/coalesce.ts'
import { http } from '../src/transport/endpoint/http.ts'
import { retry } from '../src/transport/retry.ts'
import { safeWrites } from '../src/transport/safeWrites.ts'
import type { Keccak256, SafeWritesOptions } from '../src/transport/safeWrites.ts'
import type { Transport } from '../src/transport/transport.ts'
import { forward, reply, slowly, startFaultServer } from './faultServer.ts'
import type { FaultServer, Script } from './faultServer.ts'
import { startAnvil } from './startAnvil.ts'
import type { Anvil } from './startAnvil.ts'
import { compose, deadline } from './layers.ts'

let node: Anvil
let direct: Transport
let sender: string
let server: FaultServer
let transport: Transport
const hashes = new Map<string, string>()
/** The hash function of the node. Hashes are requested beforehand, because keccak256 must return synchronously. */
const keccak256: Keccak256 = (hex) => (hashes.get(hex) ?? '0x') as `0x${string}`
const callNode = <T>(method: string, ...params: unknown[]): Promise<T> =>
  direct.request({ method, params }) as Promise<T>

beforeAll(async () => {
  node = await startAnvil()
  direct = compose(http({ url: node.url }), deadline())
  hashes.set('0x', await callNode('web3_sha3', '0x'))
  ;[sender] = (await callNode<string[]>('eth_accounts')) as [string]
})
afterAll(async () => {
  direct.close()
  await node.stop()
})

/** Forwards a request to the node. */
const pass = slowly(({ body }, response) => forward(node.url, body).then((text) => response.end(text)))

/** Sets a fault for each of the next sends. Later sends and all other requests are forwarded. */
const setSendFaults = (...faults: Script[]): void => {
  server.script = (seen, response, socket) => {
    const fault = seen.json.method.startsWith('eth_sendRaw') ? faults.shift() : undefined
    ;(fault ?? pass)(seen, response, socket)
  }
}
const getMethods = (): string[] => server.seen.map(({ json }) => json.method)
const countMethod = (method: string): number => getMethods().filter((name) => name === method).length

const make = (options?: Partial<SafeWritesOptions>): Transport =>
  compose(
    http({ url: server.url }),
    retry({ baseMs: 1 }),
    cache(),
    coalesce(),
    safeWrites({ keccak256, resends: 2, ...options }),
    deadline(),
  )
const send = (raw: string, timeoutMs?: number): Promise<unknown> =>
  transport.request({ method: 'eth_sendRawTransaction', params: [raw] }, { timeoutMs })

/** Signs a transfer with the next nonce. */
const sign = async (fields: object = {}): Promise<{ readonly raw: string; readonly hash: string }> => {
  const nonce = await callNode<string>('eth_getTransactionCount', sender, 'pending')
  const gas = { gas: '0x5208', maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1' }
  const transaction = { from: sender, to: sender, value: '0x1', nonce, chainId: '0x7a69', ...gas, ...fields }
  const raw = await callNode<string>('eth_signTransaction', transaction)
  const hash = await callNode<string>('web3_sha3', raw)
  hashes.set(raw, hash)
  return { raw, hash }
}
const getReceipt = (hash: string): Promise<{ readonly blockNumber: string } | null> =>
  callNode('eth_getTransactionReceipt', hash)

beforeEach(async () => {
  server = await startFaultServer(pass)
  transport = make()
})
afterEach(async () => {
  transport.close()
  await server.close()
})

describe('a safe write, with a real node', () => {
  test('computes the same hash as the node', async () => {
    for (const fields of [{}, { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: '0x77359400' }]) {
      const { raw, hash } = await sign(fields)
      expect(await send(raw)).toBe(hash)
    }
    expect(new Set(getMethods())).toEqual(new Set(['eth_sendRawTransaction']))
  })

  test.each<[string, Script]>([
    ['the connection breaks', slowly(({ body }, _, socket) => forward(node.url, body).then(() => socket.destroy()))],
    [
      'the response is truncated',
      slowly(({ body }, response) => forward(node.url, body).then((text) => response.end(text.slice(0, -9)))),
    ],
    [
      'a proxy gives up',
      slowly(({ body }, response) => forward(node.url, body).then(() => response.writeHead(504).end('late'))),
    ],
    [
      'the response has another hash',
      slowly((seen, response, socket) =>
        forward(node.url, seen.body).then(() => reply(`0x${'1'.repeat(64)}`)(seen, response, socket)),
      ),
    ],
  ])('succeeds if the node accepted it and %s', async (_, fault) => {
    setSendFaults(fault)
    const { raw, hash } = await sign()
    expect(await send(raw)).toBe(hash)
    expect(getMethods()).toEqual(['eth_sendRawTransaction', 'eth_getTransactionByHash'])
    await expect.poll(() => getReceipt(hash)).toMatchObject({ status: '0x1' })
  })

  test('succeeds if the node accepted it and the response never arrives', async () => {
    setSendFaults(slowly(({ body }) => forward(node.url, body)))
    const { raw, hash } = await sign()
    // The look-up happens before the deadline, at which the call would fail.
    expect(await send(raw, 2_000)).toBe(hash)
    expect(countMethod('eth_sendRawTransaction')).toBe(1)
  })

  test('resends a transaction that did not arrive, after two look-ups', async () => {
    setSendFaults((_, __, socket) => void socket.destroy())
    const { raw, hash } = await sign()
    expect(await send(raw)).toBe(hash)
    expect(getMethods()).toEqual([
      'eth_sendRawTransaction',
      'eth_getTransactionByHash',
      'eth_getTransactionByHash',
      'eth_sendRawTransaction',
    ])
    await expect.poll(() => getReceipt(hash)).toMatchObject({ status: '0x1' })
  })

  test('succeeds for a transaction that was sent before, mined or pending', async () => {
    const { raw, hash } = await sign()
    expect(await send(raw)).toBe(hash)
    expect(await send(raw)).toBe(hash)
    await callNode('evm_setAutomine', false)
    try {
      const pending = await sign()
      expect(await send(pending.raw)).toBe(pending.hash)
      expect(await getReceipt(pending.hash)).toBeNull()
      expect(await send(pending.raw)).toBe(pending.hash)
    } finally {
      await callNode('evm_setAutomine', true)
      await callNode('evm_mine')
    }
  })

  test('reports a real rejection, with the hash', async () => {
    const first = await sign()
    const other = await sign({ value: '0x2' })
    await send(first.raw)
    const failure = await send(other.raw).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      kind: 'txRejected',
      transactionHash: other.hash,
      // The message depends on whether anvil has mined the first transaction.
      rpcError: { message: expect.stringMatching(/nonce too low|replacement transaction underpriced/i) },
    })
    expect(countMethod('eth_sendRawTransaction')).toBe(2)
  })

  test('fails as unconfirmed, with the hash, if the outcome is unknown', async () => {
    server.script = (_, __, socket) => void socket.destroy()
    const { raw, hash } = await sign()
    const failure = await send(raw, 3_000).catch((error: unknown) => error)
    expect(failure).toMatchObject({ kind: 'unconfirmed', transactionHash: hash, retryable: false })
    expect(countMethod('eth_sendRawTransaction')).toBe(1)
  })

  test('fails as a retryable network error if it could not connect', async () => {
    await server.close()
    const { raw, hash } = await sign()
    const failure = await send(raw).catch((error: unknown) => error)
    expect(failure).toMatchObject({ kind: 'network', retryable: true, transactionHash: hash })
    server = await startFaultServer()
  })

  test('returns the receipt of eth_sendRawTransactionSync, even if its response is lost', async () => {
    const sync = (raw: string): Promise<unknown> =>
      transport.request({ method: 'eth_sendRawTransactionSync', params: [raw] })
    const first = await sign()
    expect(await sync(first.raw)).toMatchObject({ transactionHash: first.hash, status: '0x1' })
    setSendFaults(slowly(({ body }, _, socket) => forward(node.url, body).then(() => socket.destroy())))
    const second = await sign()
    expect(await sync(second.raw)).toMatchObject({ transactionHash: second.hash, status: '0x1' })
    expect(countMethod('eth_sendRawTransactionSync')).toBe(2)
  })
})
