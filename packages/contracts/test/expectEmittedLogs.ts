import { expect } from 'vitest'
import { applyLogs } from './appliedEvents.ts'
import type { Emitter } from './deployEmitter.ts'
import type { SubscriptionsReport } from './subscriptionsReport.ts'

/** What a program or page has received. */
export type Received = Pick<SubscriptionsReport, 'numbers' | 'logs'>

/**
 * Mines logs, replaces one of them, and expects a subscriber to have the logs of the chain.
 *
 * @param emitter - The contract that the subscriber listens to.
 * @param read - Returns what the subscriber has received.
 */
export async function expectEmittedLogs(
  { emit, reorganize, getLogBlocks, getBlockNumber }: Emitter,
  read: () => Received | Promise<Received>,
): Promise<void> {
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
