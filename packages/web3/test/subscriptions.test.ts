import { join } from 'node:path'
import { applyLogs } from '@keyrail/contracts/test/appliedEvents.ts'
import { deployEmitter } from '@keyrail/contracts/test/deployEmitter.ts'
import { openBundledPage } from '@keyrail/contracts/test/openBundledPage.ts'
import { noBrowser } from '@keyrail/core/test/openBrowser.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import { afterAll, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { KeyrailProvider, webSocket } from '../src/index.ts'
import type { PageReport } from './subscriptionsPage.ts'

const anvil = await startAnvil()
afterAll(anvil.stop)
const { address, emit, reorganize, getLogBlocks, getBlockNumber } = await deployEmitter(anvil.url)

/** What a program or page has received. */
type Received = Pick<PageReport, 'numbers' | 'logs'>

/** Mines logs, replaces one of them, and expects the logs of the chain. */
const expectChain = async (read: () => Received | Promise<Received>): Promise<void> => {
  // Until both subscriptions have started, and a log remains after the reorganization.
  await expect
    .poll(async () => {
      await emit()
      const { numbers, logs } = await read()
      return Math.min(numbers.length, new Set(logs.map(({ blockHash }) => blockHash)).size)
    })
    .toBeGreaterThan(1)
  // Anvil mines a transaction after it has responded.
  await expect
    .poll(async () => {
      const { numbers, logs } = await read()
      const newest = (await getLogBlocks(undefined)).at(-1)
      return numbers.at(-1) === (await getBlockNumber()) && logs.at(-1)?.blockHash === newest
    })
    .toBe(true)
  await reorganize(1)
  await emit()
  await expect.poll(async () => (await read()).logs.some(({ removed }) => removed)).toBe(true)
  await expect
    .poll(async () => {
      const { logs } = await read()
      const seen = applyLogs(logs).map(({ blockHash }) => blockHash)
      return String(seen) === String(await getLogBlocks(logs[0]?.blockHash))
    })
    .toBe(true)
}

test('subscriptions follow reorganizations of anvil', async () => {
  const provider = new KeyrailProvider({ url: anvil.url, webSocket: webSocket() })
  const { eth } = new Web3(provider)
  const received: Received = { numbers: [], logs: [] }
  try {
    const blocks = await eth.subscribe('newHeads')
    blocks.on('data', ({ number }) => void received.numbers.push(Number(number)))
    const logs = await eth.subscribe('logs', { address })
    logs.on('data', ({ blockHash, logIndex, removed }) => {
      received.logs.push({ blockHash: String(blockHash), logIndex: Number(logIndex), removed: removed === true })
    })
    await expectChain(() => received)
  } finally {
    provider.disconnect()
  }
})

test.skipIf(noBrowser)('subscriptions of a page in Chromium follow reorganizations of anvil', async () => {
  const entry = join(import.meta.dirname, 'subscriptionsPage.ts')
  const { getReport, thrown, close } = await openBundledPage<PageReport>(entry, { node: anvil.url, address })
  try {
    await expectChain(getReport)
    expect([...(await getReport()).errors, ...thrown]).toEqual([])
  } finally {
    await close()
  }
})
