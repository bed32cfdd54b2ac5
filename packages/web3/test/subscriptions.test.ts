import { applyLogs } from '@keyrail/contracts/test/appliedEvents.ts'
import type { SeenLog } from '@keyrail/contracts/test/appliedEvents.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import { expect, test } from 'vitest'
import { Web3 } from 'web3'
import { KeyrailProvider, webSocket } from '../src/index.ts'

test('subscriptions follow reorganizations of anvil', async () => {
  const anvil = await startAnvil()
  const over = new KeyrailProvider({ url: anvil.url, webSocket: webSocket() })
  const request = over.asEIP1193Provider().request as unknown as (call: {
    readonly method: string
    readonly params?: readonly unknown[]
  }) => Promise<unknown>
  try {
    // Emits an empty log: PUSH0 PUSH0 LOG0.
    const address = `0x${'e1'.repeat(20)}`
    await request({ method: 'anvil_setCode', params: [address, '0x5f5fa0'] })
    const [from] = (await request({ method: 'eth_accounts' })) as string[]
    const emit = (): Promise<unknown> =>
      request({ method: 'eth_sendTransaction', params: [{ from, to: address, gas: '0x10000' }] })
    const logs: SeenLog[] = []
    const matching = await new Web3(over).eth.subscribe('logs', { address })
    matching.on('data', ({ blockHash, logIndex, removed }) => {
      logs.push({ blockHash: String(blockHash), logIndex: Number(logIndex), removed: removed === true })
    })
    await emit()
    await emit()
    await expect.poll(() => logs.length).toBe(2)
    await request({ method: 'anvil_reorg', params: [1, []] })
    await emit()
    await expect.poll(() => logs.some(({ removed }) => removed)).toBe(true)
    const getHashes = async (): Promise<unknown[]> => {
      const found = await new Web3(over).eth.getPastLogs({ address, fromBlock: 0 })
      return found.map((log) => Object(log).blockHash as unknown)
    }
    // Anvil mines a transaction after it has responded.
    const seen = (): string[] => applyLogs(logs).map(({ blockHash }) => blockHash)
    await expect.poll(async () => String(seen()) === String(await getHashes())).toBe(true)
  } finally {
    over.disconnect()
    await anvil.stop()
  }
})
