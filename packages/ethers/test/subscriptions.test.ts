import { applyLogs } from '@keyrail/contracts/test/appliedEvents.ts'
import type { SeenLog } from '@keyrail/contracts/test/appliedEvents.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Log } from 'ethers'
import { expect, test } from 'vitest'
import { KeyrailProvider, webSocket } from '../src/index.ts'

/** Collects logs, and those that were removed again. */
const collectLogs = (target: KeyrailProvider, filter: { readonly address: string }): SeenLog[] => {
  const logs: SeenLog[] = []
  const add = ({ blockHash, index, removed }: Log): void => void logs.push({ blockHash, logIndex: index, removed })
  void target.on(filter, (log: Log) => {
    add(log)
    void target.once(log.removedEvent(), add)
  })
  return logs
}

test('events follow reorganizations of anvil', async () => {
  const anvil = await startAnvil()
  const over = new KeyrailProvider({ url: anvil.url, webSocket: webSocket() })
  try {
    // Emits an empty log: PUSH0 PUSH0 LOG0.
    const address = `0x${'e1'.repeat(20)}`
    await over.send('anvil_setCode', [address, '0x5f5fa0'])
    const [from] = (await over.send('eth_accounts', [])) as string[]
    const emit = (): Promise<unknown> => over.send('eth_sendTransaction', [{ from, to: address, gas: '0x10000' }])
    const logs = collectLogs(over, { address })
    const numbers: number[] = []
    await over.on('block', (number: number) => void numbers.push(number))
    await expect.poll(async () => (await emit(), Math.min(logs.length, numbers.length))).toBeGreaterThan(0)
    await emit()
    await expect.poll(async () => numbers.at(-1) === (await over.getBlockNumber())).toBe(true)
    await over.send('anvil_reorg', [2, []])
    await emit()
    await expect.poll(() => logs.filter(({ removed }) => removed).length).toBeGreaterThan(0)
    const first = await over.getBlock((logs[0] as SeenLog).blockHash)
    const getHashes = async (): Promise<string[]> => {
      const found = await over.getLogs({ address, fromBlock: first?.number as number })
      return found.map(({ blockHash }) => blockHash)
    }
    // Anvil mines a transaction after it has responded.
    const seen = (): string[] => applyLogs(logs).map(({ blockHash }) => blockHash)
    await expect.poll(async () => String(seen()) === String(await getHashes())).toBe(true)
  } finally {
    over.destroy()
    await anvil.stop()
  }
})
