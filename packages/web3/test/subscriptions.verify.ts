import { join } from 'node:path'
import { deployEmitter } from '@keyrail/contracts/test/deployEmitter.ts'
import { expectEmittedLogs } from '@keyrail/contracts/test/expectEmittedLogs.ts'
import type { Received } from '@keyrail/contracts/test/expectEmittedLogs.ts'
import { openBundledPage } from '@keyrail/contracts/test/openBundledPage.ts'
import type { SubscriptionsReport } from '@keyrail/contracts/test/subscriptionsReport.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import { afterAll, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { needs } from '../../../scripts/externalPrograms.ts'
import { KeyrailProvider, webSocket } from '../src/index.ts'

const anvil = await startAnvil()
afterAll(anvil.stop)
const emitter = await deployEmitter(anvil.url)
const { address } = emitter

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
    await expectEmittedLogs(emitter, () => received)
  } finally {
    provider.disconnect()
  }
})

test('subscriptions of a page in Chromium follow reorganizations of anvil', needs('chromium'), async () => {
  const entry = join(import.meta.dirname, 'subscriptionsPage.ts')
  const { getReport, thrown, close } = await openBundledPage<SubscriptionsReport>(entry, { node: anvil.url, address })
  try {
    await expectEmittedLogs(emitter, getReport)
    expect([...(await getReport()).errors, ...thrown]).toEqual([])
  } finally {
    await close()
  }
})
