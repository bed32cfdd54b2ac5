import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Quota } from '../../src/usage/limits/usageLimits.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { openQuota } from './openQuota.ts'
import type { TestQuota } from './openQuota.ts'

const noon = Date.UTC(2026, 10, 21, 12)
const dayMs = 86_400_000

/** A storage that maintains a copy of what is surely on the disk: the file after the last write that waited for the disk. */
const watchDisk = async (file: string, sure: string): Promise<Storage & { waits: number }> => {
  const storage = await openStorage({ file })
  const reader = new DatabaseSync(file, { readOnly: true })
  const copy = (): void => {
    rmSync(sure, { force: true })
    reader.exec(`vacuum into '${sure}'`)
  }
  copy()
  const watched = {
    ...storage,
    waits: 0,
    write: async (...[steps, options]: Parameters<Storage['write']>) => {
      const rows = await storage.write(steps, options)
      if (options?.light !== true) {
        copy()
        watched.waits += 1
      }
      return rows
    },
    close: async () => {
      reader.close()
      await storage.close()
    },
  }
  return watched
}

describe('local limits on SQLite after a power cut', () => {
  let folder = ''
  let cases = 0
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyrail-cut-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const newFile = (): string => join(folder, `${(cases += 1)}.db`)
  const getUsedAfterStart = async (file: string, quota: Quota, now: number): Promise<number> => {
    const storage = await openStorage({ file })
    const local = openQuota({ storage, now: () => now })
    const { day } = await local.usage(quota)
    await local.close()
    await storage.close()
    return day.used
  }

  test('never has fewer calls used than were granted, at any time of the power cut', async () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.record({ op: fc.constant('take' as const), calls: fc.integer({ min: 1, max: 90 }) }) },
      { weight: 1, arbitrary: fc.record({ op: fc.constant('midnight' as const) }) },
      { weight: 1, arbitrary: fc.record({ op: fc.constant('restart' as const) }) },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30_000 }),
        fc.array(step, { minLength: 1, maxLength: 60 }),
        async (perDay, steps) => {
          const [file, sure] = [newFile(), newFile()]
          const storage = await watchDisk(file, sure)
          let now = noon
          const open = (): TestQuota => openQuota({ storage, now: () => now, idleMs: 60_000 })
          let local = open()
          const quota = { id: 'user:usr_1', perDay, perMonth: null }
          let granted = 0
          for (const one of steps) {
            if (one.op === 'take') granted += (await local.take(quota, one.calls)).granted
            else if (one.op === 'midnight') {
              now += dayMs
              granted = 0
            } else {
              await local.close()
              local = open()
            }
          }
          const after = newFile()
          copyFileSync(sure, after)
          const used = await getUsedAfterStart(after, quota, now)
          expect(used).toBeGreaterThanOrEqual(granted)
          // The loss is bounded too.
          expect(used).toBeLessThanOrEqual(granted + Math.max(25, perDay / 100))
          await local.close()
          await storage.close()
        },
      ),
      { numRuns: 15 },
    )
  })

  test('a kill forfeits what was reserved ahead, a clean stop nothing', async () => {
    const quota = { id: 'user:usr_1', perDay: 25_000, perMonth: null }
    const [killed, clean, sure] = [newFile(), newFile(), newFile()]
    const storage = await watchDisk(clean, sure)
    const local = openQuota({ storage, now: () => noon })
    await local.take(quota, 60)
    // The file after a kill: everything that was written.
    const reader = new DatabaseSync(clean, { readOnly: true })
    reader.exec(`vacuum into '${killed}'`)
    reader.close()
    expect(await getUsedAfterStart(killed, quota, noon)).toBe(60 + 25)
    await local.close()
    await storage.close()
    expect(await getUsedAfterStart(clean, quota, noon)).toBe(60)
  })

  test('waits for the disk only once in several hundred calls of a busy quota', async () => {
    const storage = await watchDisk(newFile(), newFile())
    const local = openQuota({ storage, now: () => noon })
    const quota = { id: 'user:usr_1', perDay: 25_000, perMonth: null }
    for (let call = 0; call < 5_000; call += 1) await local.take(quota, 1)
    expect(storage.waits).toBeGreaterThanOrEqual(5_000 / 250)
    expect(storage.waits).toBeLessThanOrEqual(5_000 / 250 + 10)
    await local.close()
    expect((await local.usage(quota)).day.used).toBe(5_000)
    await storage.close()
  })
})
