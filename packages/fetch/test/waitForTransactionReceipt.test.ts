import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTransport, stats } from '@keyrail/core'
import type { KeyrailTransport, StatsMethods, Hex } from '@keyrail/core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createClient, waitForTransactionReceipt } from '../src/index.ts'
import type { Client, TransactionReceipt } from '../src/index.ts'
import { startCountingServer } from './countingServer.ts'
import { toWord } from './emitter.ts'
import type { AnvilRpc } from './nodeMethods.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'
import { wireReceipt } from '@keyrail/core/test/wire.ts'

let anvil: Anvil
let transport: KeyrailTransport & StatsMethods
let client: Client<AnvilRpc>
let from: Hex
let to: Hex
let snapshot: Hex

beforeAll(async () => {
  anvil = await startAnvil()
  transport = createTransport({ stats: stats(), url: anvil.url, retry: false })
  client = createClient<AnvilRpc>(transport)
  const accounts = await client.eth_accounts()
  from = accounts[0] as Hex
  to = accounts[1] as Hex
  await client.evm_setAutomine(false)
})
beforeEach(async () => {
  snapshot = await client.evm_snapshot()
})
afterEach(async () => {
  await client.evm_revert(snapshot)
})
afterAll(async () => {
  client.close()
  await anvil.stop()
})

// Fees and gas are fixed, so the same nonce produces the same transaction.
const send = (): Promise<Hex> =>
  client.eth_sendTransaction({ from, to, value: '0x1', gas: '0x5208', gasPrice: '0x77359400' })
const mine = (blocks = 1): Promise<null> => client.anvil_mine(`0x${blocks.toString(16)}`)
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const pollingIntervalMs = 25

/** Whether it has settled within some polls. */
const hasSettled = (wait: Promise<unknown>): Promise<boolean> =>
  Promise.race([wait.then(() => true), sleep(200).then(() => false)])

describe('waitForTransactionReceipt', () => {
  test('returns the receipt once the transaction is mined', async () => {
    const hash = await send()
    const wait = waitForTransactionReceipt(client, { hash, pollingIntervalMs })
    expect(await hasSettled(wait)).toBe(false)
    await mine()
    expect(await wait).toMatchObject({ transactionHash: hash, status: 'success' })
  })

  test('waits for a transaction that the node does not know yet', async () => {
    const snapshotBefore = await client.evm_snapshot()
    const hash = await send()
    await client.evm_revert(snapshotBefore)
    await client.anvil_dropTransaction(hash)
    expect(await client.eth_getTransactionByHash(hash)).toBeNull()
    const wait = waitForTransactionReceipt(client, { hash, pollingIntervalMs })
    expect(await hasSettled(wait)).toBe(false)
    expect(await send()).toBe(hash)
    await mine()
    expect((await wait).transactionHash).toBe(hash)
  })

  test('counts confirmations, the own block as the first', async () => {
    const hash = await send()
    await mine()
    expect((await waitForTransactionReceipt(client, { hash, confirmations: 1 })).transactionHash).toBe(hash)
    const wait = waitForTransactionReceipt(client, { hash, confirmations: 3, pollingIntervalMs })
    await mine()
    expect(await hasSettled(wait)).toBe(false)
    await mine()
    const receipt = await wait
    expect(BigInt(await client.eth_blockNumber())).toBe(receipt.blockNumber + 2n)
  })

  test('returns the receipt of an old transaction at once', async () => {
    const hash = await send()
    await mine(12)
    // A second poll would come after the end of the test.
    const receipt = await waitForTransactionReceipt(client, { hash, confirmations: 12, pollingIntervalMs: 600_000 })
    expect(receipt.transactionHash).toBe(hash)
  })

  test('starts over if a reorganization removes the receipt, and ends once it is mined again', async () => {
    const hash = await send()
    await mine()
    const wait = waitForTransactionReceipt(client, { hash, confirmations: 4, pollingIntervalMs })
    expect(await hasSettled(wait)).toBe(false)
    await client.anvil_reorg(1, [])
    expect(await client.eth_getTransactionReceipt(hash)).toBeNull()
    await client.anvil_dropTransaction(hash)
    await mine(6)
    expect(await hasSettled(wait)).toBe(false)
    expect(await send()).toBe(hash)
    await mine()
    const second = await client.eth_getTransactionReceipt(hash)
    expect(await hasSettled(wait)).toBe(false)
    await mine(3)
    const receipt = await wait
    expect(receipt.blockHash).toBe(second?.blockHash)
    expect(receipt.blockNumber).toBe(BigInt(second?.blockNumber ?? ''))
  })

  test('ends with the reason of the signal: before, during a poll, and between polls', async () => {
    const hash = await send()
    const reason = { mine: true }
    await expect(waitForTransactionReceipt(client, { hash, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    const wait = waitForTransactionReceipt(client, { hash, signal: controller.signal, pollingIntervalMs: 60_000 })
    await expect.poll(() => transport.stats().inFlight).toBe(0)
    controller.abort(reason)
    await expect(wait).rejects.toBe(reason)
    const bound = new AbortController()
    const boundWait = waitForTransactionReceipt(client.with({ signal: bound.signal }), { hash, pollingIntervalMs })
    bound.abort(reason)
    await expect(boundWait).rejects.toBe(reason)
  })

  test.each([
    ['hash', { hash: '0x1' as Hex }],
    ['confirmations', { hash: toWord(1), confirmations: 0 }],
    ['confirmations', { hash: toWord(1), confirmations: 1.5 }],
    ['timeoutMs', { hash: toWord(1), timeoutMs: 0 }],
    ['timeoutMs', { hash: toWord(1), timeoutMs: Infinity }],
    ['pollingIntervalMs', { hash: toWord(1), pollingIntervalMs: 0 }],
  ])('rejects a wrong %s', async (name, options) => {
    await expect(waitForTransactionReceipt(client, options)).rejects.toMatchObject({ kind: 'invalidRequest' })
    await expect(waitForTransactionReceipt(client, options)).rejects.toThrow(name)
  })
})

describe('waitForTransactionReceipt with a failing node', () => {
  /** A server that returns these responses one after the other, and then repeats the last one. */
  const startFailing = async (...responses: { status?: number; headers?: Record<string, string>; body: unknown }[]) => {
    let requests = 0
    const server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += chunk.toString()))
      request.on('end', () => {
        const next = responses[Math.min(requests++, responses.length - 1)]
        const { id } = JSON.parse(text) as { id: number }
        response.writeHead(next?.status ?? 200, { 'content-type': 'application/json', ...next?.headers })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(next?.body as object) }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = createClient({ url, retry: false })
    return {
      requests: () => requests,
      wait: (more: object = {}): Promise<TransactionReceipt> =>
        waitForTransactionReceipt(client, { hash: wireReceipt.transactionHash, pollingIntervalMs, ...more }),
      [Symbol.asyncDispose]: async () => {
        client.close()
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      },
    }
  }
  const busy = { status: 503, body: { error: { code: -32000, message: 'busy' } } }
  const found = { body: { result: wireReceipt } }
  const absent = { body: { result: null } }

  test('continues after retryable failures', async () => {
    await using node = await startFailing(busy, absent, busy, busy, found)
    expect((await node.wait()).transactionHash).toBe(wireReceipt.transactionHash)
    expect(node.requests()).toBe(5)
  })

  test.each([{ blockHash: null }, { blockNumber: null }, { blockHash: null, blockNumber: null }])(
    'waits while the node has a receipt without a block: %j',
    async (missing) => {
      const early = { body: { result: { ...wireReceipt, ...missing } } }
      await using node = await startFailing(early, early, found)
      expect((await node.wait()).blockHash).toBe(wireReceipt.blockHash)
      expect(node.requests()).toBe(3)
    },
  )

  test('fails at once if the node requests a longer wait than the time left', async () => {
    const throttled = {
      status: 429,
      headers: { 'retry-after': '60' },
      body: { error: { code: 429, message: 'slow down' } },
    }
    await using node = await startFailing(throttled, found)
    await expect(node.wait({ timeoutMs: 5_000 })).rejects.toMatchObject({ kind: 'throttled', retryAfterMs: 60_000 })
    expect(node.requests()).toBe(1)
  })

  test('ends at the deadline during a poll', async () => {
    const server = await startCountingServer()
    const hanging = createClient({ url: server.url })
    server.respond = () => undefined
    await expect(
      waitForTransactionReceipt(hanging, { hash: wireReceipt.transactionHash, timeoutMs: 100 }),
    ).rejects.toThrow(/is not mined after 100 ms; the last poll failed: timeout/)
    hanging.close()
    await server.close()
  })

  test('fails at once if the failure is not retryable', async () => {
    await using node = await startFailing({ status: 401, body: { error: { code: -32000, message: 'unknown key' } } })
    await expect(node.wait()).rejects.toMatchObject({ kind: 'auth' })
    expect(node.requests()).toBe(1)
  })

  test('fails at once for an invalid receipt', async () => {
    await using node = await startFailing({ body: { result: { ...wireReceipt, gasUsed: 'much' } } })
    await expect(node.wait()).rejects.toMatchObject({
      kind: 'badResponse',
      message: 'receipt.gasUsed is not a hex quantity',
    })
    expect(node.requests()).toBe(1)
  })

  test('does not request the head if one confirmation is enough', async () => {
    const server = await startCountingServer()
    const counted = createClient({ url: server.url })
    server.respond = () => wireReceipt
    await waitForTransactionReceipt(counted, { hash: wireReceipt.transactionHash })
    expect(server.received.map(({ method }) => method)).toEqual(['eth_getTransactionReceipt'])
    counted.close()
    await server.close()
  })

  test('leaves no listener on the signal', async () => {
    await using node = await startFailing(absent, absent, absent, found)
    const controller = new AbortController()
    let listeners = 0
    const { signal } = controller
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    const held = new Set<unknown>()
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++
      held.add(args[1])
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      held.delete(args[1])
      remove(...args)
    }
    await node.wait({ signal })
    expect(listeners).toBeGreaterThan(3)
    expect(held.size).toBe(0)
  })
})
