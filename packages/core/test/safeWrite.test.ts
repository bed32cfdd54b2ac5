import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cache } from '../src/transport/cache.ts'
import { coalesce } from '../src/transport/coalesce.ts'
import { http } from '../src/transport/http.ts'
import { retry } from '../src/transport/retry.ts'
import { safeWrites } from '../src/transport/safeWrites.ts'
import type { Keccak256, SafeWritesOptions } from '../src/transport/safeWrites.ts'
import type { Transport } from '../src/transport/transport.ts'
import { reply, startFaultServer } from './faultServer.ts'
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
/** The node's own hash function, asked beforehand: it answers later, and ours must at once. */
const keccak256: Keccak256 = (hex) => (hashes.get(hex) ?? '0x') as `0x${string}`
const askNode = <T>(method: string, ...params: unknown[]): Promise<T> =>
  direct.request({ method, params }) as Promise<T>

beforeAll(async () => {
  node = await startAnvil()
  direct = compose(http({ url: node.url }), deadline())
  hashes.set('0x', await askNode('web3_sha3', '0x'))
  ;[sender] = (await askNode<string[]>('eth_accounts')) as [string]
})
afterAll(async () => {
  direct.close()
  await node.stop()
})

/** Passes a request on to the node, and gives its answer as text. */
const forward = (body: string): Promise<string> =>
  fetch(node.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then((response) =>
    response.text(),
  )
const pass: Script = ({ body }, response) => void forward(body).then((text) => response.end(text))

/** How sends fare, one after the other; those beyond pass, and so does all else. */
const sendsMeet = (...faults: Script[]): void => {
  server.script = (seen, response, socket) => {
    const fault = seen.json.method.startsWith('eth_sendRaw') ? faults.shift() : undefined
    ;(fault ?? pass)(seen, response, socket)
  }
}
const asked = (): string[] => server.seen.map(({ json }) => json.method)
const countOf = (method: string): number => asked().filter((name) => name === method).length

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
  const nonce = await askNode<string>('eth_getTransactionCount', sender, 'pending')
  const gas = { gas: '0x5208', maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1' }
  const transaction = { from: sender, to: sender, value: '0x1', nonce, chainId: '0x7a69', ...gas, ...fields }
  const raw = await askNode<string>('eth_signTransaction', transaction)
  const hash = await askNode<string>('web3_sha3', raw)
  hashes.set(raw, hash)
  return { raw, hash }
}
const mined = (hash: string): Promise<{ readonly blockNumber: string } | null> =>
  askNode('eth_getTransactionReceipt', hash)

beforeEach(async () => {
  server = await startFaultServer(pass)
  transport = make()
})
afterEach(async () => {
  transport.close()
  await server.close()
})

describe('a safe write, with a real node', () => {
  test('computes the hash that the node gives', async () => {
    for (const fields of [{}, { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: '0x77359400' }]) {
      const { raw, hash } = await sign(fields)
      expect(await send(raw)).toBe(hash)
    }
    expect(new Set(asked())).toEqual(new Set(['eth_sendRawTransaction']))
  })

  test.each<[string, Script]>([
    ['the connection breaks', ({ body }, _, socket) => void forward(body).then(() => socket.destroy())],
    [
      'the answer is cut off',
      ({ body }, response) => void forward(body).then((text) => response.end(text.slice(0, -9))),
    ],
    ['a proxy gives up', ({ body }, response) => void forward(body).then(() => response.writeHead(504).end('late'))],
    [
      'another hash is answered',
      (seen, response, socket) =>
        void forward(seen.body).then(() => reply(`0x${'1'.repeat(64)}`)(seen, response, socket)),
    ],
  ])('succeeds where the node took it and %s', async (_, fault) => {
    sendsMeet(fault)
    const { raw, hash } = await sign()
    expect(await send(raw)).toBe(hash)
    expect(asked()).toEqual(['eth_sendRawTransaction', 'eth_getTransactionByHash'])
    await expect.poll(() => mined(hash)).toMatchObject({ status: '0x1' })
  })

  test('succeeds where the node took it and the answer never comes', async () => {
    sendsMeet(({ body }) => void forward(body))
    const { raw, hash } = await sign()
    // It is looked up while there is time left: at the deadline there would be an error.
    expect(await send(raw, 2_000)).toBe(hash)
    expect(countOf('eth_sendRawTransaction')).toBe(1)
  })

  test('sends again what did not arrive, once it was looked for twice', async () => {
    sendsMeet((_, __, socket) => void socket.destroy())
    const { raw, hash } = await sign()
    expect(await send(raw)).toBe(hash)
    expect(asked()).toEqual([
      'eth_sendRawTransaction',
      'eth_getTransactionByHash',
      'eth_getTransactionByHash',
      'eth_sendRawTransaction',
    ])
    await expect.poll(() => mined(hash)).toMatchObject({ status: '0x1' })
  })

  test('takes the same transaction for success, mined or waiting', async () => {
    const { raw, hash } = await sign()
    expect(await send(raw)).toBe(hash)
    expect(await send(raw)).toBe(hash)
    await askNode('evm_setAutomine', false)
    try {
      const waiting = await sign()
      expect(await send(waiting.raw)).toBe(waiting.hash)
      expect(await mined(waiting.hash)).toBeNull()
      expect(await send(waiting.raw)).toBe(waiting.hash)
    } finally {
      await askNode('evm_setAutomine', true)
      await askNode('evm_mine')
    }
  })

  test('reports a rejection that is one, with the hash', async () => {
    const first = await sign()
    const other = await sign({ value: '0x2' })
    await send(first.raw)
    const failure = await send(other.raw).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      kind: 'txRejected',
      transactionHash: other.hash,
      // It depends on whether anvil has mined the first.
      rpcError: { message: expect.stringMatching(/nonce too low|replacement transaction underpriced/i) },
    })
    expect(countOf('eth_sendRawTransaction')).toBe(2)
  })

  test('says that it is unconfirmed, with the hash, where nobody can tell', async () => {
    server.script = (_, __, socket) => void socket.destroy()
    const { raw, hash } = await sign()
    const failure = await send(raw, 3_000).catch((error: unknown) => error)
    expect(failure).toMatchObject({ kind: 'unconfirmed', transactionHash: hash, retryable: false })
    expect(countOf('eth_sendRawTransaction')).toBe(1)
  })

  test('knows that nothing was sent where there is no connection', async () => {
    await server.close()
    const { raw, hash } = await sign()
    const failure = await send(raw).catch((error: unknown) => error)
    expect(failure).toMatchObject({ kind: 'network', retryable: true, transactionHash: hash })
    server = await startFaultServer()
  })

  test('gives the receipt of eth_sendRawTransactionSync, also where its answer is lost', async () => {
    const sync = (raw: string): Promise<unknown> =>
      transport.request({ method: 'eth_sendRawTransactionSync', params: [raw] })
    const first = await sign()
    expect(await sync(first.raw)).toMatchObject({ transactionHash: first.hash, status: '0x1' })
    sendsMeet(({ body }, _, socket) => void forward(body).then(() => socket.destroy()))
    const second = await sign()
    expect(await sync(second.raw)).toMatchObject({ transactionHash: second.hash, status: '0x1' })
    expect(countOf('eth_sendRawTransactionSync')).toBe(2)
  })
})
