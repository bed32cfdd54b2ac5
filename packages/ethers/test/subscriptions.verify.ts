import { join } from 'node:path'
import { deployEmitter } from '@keyrail/contracts/test/deployEmitter.ts'
import { expectEmittedLogs } from '@keyrail/contracts/test/expectEmittedLogs.ts'
import type { Received } from '@keyrail/contracts/test/expectEmittedLogs.ts'
import { openBundledPage } from '@keyrail/contracts/test/openBundledPage.ts'
import type { SubscriptionsReport } from '@keyrail/contracts/test/subscriptionsReport.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Log } from 'ethers'
import { afterAll, expect, test } from 'vitest'
import { needs } from '../../../scripts/externalPrograms.ts'
import { KeyrailProvider, webSocket } from '../src/index.ts'

const anvil = await startAnvil()
afterAll(anvil.stop)
const emitter = await deployEmitter(anvil.url)
const { address } = emitter

test('events follow reorganizations of anvil', async () => {
  const provider = new KeyrailProvider({ url: anvil.url, webSocket: webSocket() })
  const received: Received = { numbers: [], logs: [] }
  const add = ({ blockHash, index, removed }: Log): void =>
    void received.logs.push({ blockHash, logIndex: index, removed })
  try {
    await provider.on('block', (number: number) => void received.numbers.push(number))
    await provider.on({ address }, (log: Log) => {
      add(log)
      void provider.once(log.removedEvent(), add)
    })
    await expectEmittedLogs(emitter, () => received)
  } finally {
    provider.destroy()
  }
})

test('events of a page in Chromium follow reorganizations of anvil', needs('chromium'), async () => {
  const entry = join(import.meta.dirname, 'subscriptionsPage.ts')
  const { getReport, thrown, close } = await openBundledPage<SubscriptionsReport>(entry, { node: anvil.url, address })
  try {
    await expectEmittedLogs(emitter, getReport)
    expect([...(await getReport()).errors, ...thrown]).toEqual([])
  } finally {
    await close()
  }
})
