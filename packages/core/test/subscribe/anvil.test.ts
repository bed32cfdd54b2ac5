import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createSubscription, createTransport, webSocket } from '../../src/index.ts'
import type { Hex, RpcLog, Transport } from '../../src/index.ts'
import { startAnvil } from '../startAnvil.ts'
import type { Anvil } from '../startAnvil.ts'
import { formatLogPosition } from '../reorgChain.ts'
import { blocksLeft, logsLeft, take } from './followChain.ts'

let anvil: Anvil
let overHttp: Transport
let overSocket: Transport
let from: Hex
let emitter: Hex

// Emits a log without topics: PUSH0 PUSH0 LOG0, deployed by copying those three bytes.
const initCode = '0x625f5fa05f526003601df3'

const rpc = (method: string, ...params: unknown[]): Promise<unknown> => overHttp.request({ method, params })
const emit = (): Promise<unknown> => rpc('eth_sendTransaction', { from, to: emitter, gas: '0x186a0' })
const mine = (): Promise<unknown> => rpc('anvil_mine', '0x1')
const canonicalLogs = async (): Promise<string[]> =>
  ((await rpc('eth_getLogs', { address: emitter, fromBlock: '0x0' })) as RpcLog[]).map(formatLogPosition)

beforeAll(async () => {
  anvil = await startAnvil()
  overHttp = createTransport({ url: anvil.url })
  overSocket = createTransport({ url: anvil.url, webSocket: webSocket() })
  ;[from] = (await rpc('eth_accounts')) as [Hex]
  const hash = await rpc('eth_sendTransaction', { from, data: initCode, gas: '0x186a0' })
  emitter = await vi.waitFor(async () => {
    const receipt = (await rpc('eth_getTransactionReceipt', hash)) as { contractAddress: Hex } | null
    if (!receipt) throw new Error('not mined yet')
    return receipt.contractAddress
  }, 30_000)
  await rpc('evm_setAutomine', false)
})
afterAll(async () => {
  overHttp.close()
  overSocket.close()
  await anvil.stop()
})

test.each(['HTTP', 'a socket'])('follows mining, anvil_reorg and pending transactions over %s', async (over) => {
  const transport = over === 'HTTP' ? overHttp : overSocket
  const pollingIntervalMs = over === 'HTTP' ? 20 : undefined
  const options = { fromBlock: 0, pollingIntervalMs } as const
  const blocks = take(createSubscription(transport, { blocks: true }, options))
  const whole = take(createSubscription(transport, { blocks: { transactions: 'full' } }, options))
  const logs = take(createSubscription(transport, { logs: { address: emitter } }, options))
  const pending = take(createSubscription(transport, { pending: true }, { pollingIntervalMs }))
  const caughtUp = (): Promise<void> =>
    vi.waitFor(
      async () => {
        const head = (await rpc('eth_getBlockByNumber', 'latest', false)) as { hash: Hex; number: Hex }
        for (const { seen } of [blocks, whole]) {
          expect(blocksLeft(seen).at(-1)?.hash).toBe(head.hash)
          expect(blocksLeft(seen)).toHaveLength(Number(head.number) + 1)
        }
        expect(logsLeft(logs.seen)).toEqual(await canonicalLogs())
      },
      { timeout: 30_000, interval: 20 },
    )
  await caughtUp()
  const sent: unknown[] = []
  for (let block = 0; block < 5; block++) {
    for (let i = 0; i < block; i++) sent.push(await emit())
    await mine()
    await caughtUp()
  }
  await vi.waitFor(() => expect(pending.seen.map(({ hash }) => hash)).toEqual(sent), { timeout: 30_000 })
  const before = (await canonicalLogs()).length
  await rpc('anvil_reorg', 3, [])
  await mine()
  await caughtUp()
  expect((await canonicalLogs()).length).toBeLessThan(before)
  expect(logs.seen.filter(({ type }) => type === 'reorg')).toHaveLength(1)
  const full = whole.seen.flatMap((event) => (event.type === 'block' ? event.block.transactions : []))
  expect(full.some(({ to }) => to === emitter)).toBe(true)
  await Promise.all([blocks, whole, logs, pending].map(({ stop }) => stop()))
})
