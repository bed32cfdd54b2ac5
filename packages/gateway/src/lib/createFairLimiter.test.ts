import { describe, expect, test } from 'vitest'
import { createFairLimiter } from './createFairLimiter.ts'

/** A limiter whose work ends when the test says so. */
const start = (maxQueued: number) => {
  const limiter = createFairLimiter({ maxRunning: 1, maxQueued })
  const started: string[] = []
  const rejected: string[] = []
  const ends: (() => void)[] = []
  const run = (name: string, isKnown = false): void => {
    const [network = '', caller = ''] = name.split('.')
    const work = (): Promise<void> => {
      started.push(name)
      return new Promise((resolve) => ends.push(resolve))
    }
    void limiter.run({ network, caller, isKnown }, work).then((result) => {
      if (result === 'full') rejected.push(name)
    })
  }
  const endAll = async (): Promise<void> => {
    for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
      end()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { run, started, rejected, endAll }
}

describe('createFairLimiter', () => {
  test('runs the work of one caller in order, and rejects what does not fit into the queue', async () => {
    const { run, started, rejected, endAll } = start(2)
    for (const name of ['a.1.first', 'a.1.second', 'a.1.third', 'a.1.fourth']) run(name)
    await endAll()
    expect(started).toEqual(['a.1.first', 'a.1.second', 'a.1.third'])
    expect(rejected).toEqual(['a.1.fourth'])
  })

  test('networks take turns, and so do the callers of a network', async () => {
    const { run, started, endAll } = start(10)
    for (const name of ['a.1', 'a.1', 'a.1', 'a.2', 'a.2', 'b.1', 'b.1', 'c.1']) run(name)
    await endAll()
    expect(started).toEqual(['a.1', 'a.1', 'b.1', 'c.1', 'a.2', 'b.1', 'a.1', 'a.2'])
  })

  test('in a full queue, others replace the newest work of the network that has the most', async () => {
    const { run, started, rejected, endAll } = start(4)
    for (const name of ['a.1.run', 'a.1.w', 'a.2.x', 'a.2.y', 'a.2.z', 'b.1', 'c.1', 'd.1']) run(name)
    await endAll()
    expect(rejected).toEqual(['a.2.z', 'a.2.y', 'a.1.w'])
    expect(started).toEqual(['a.1.run', 'a.2.x', 'b.1', 'c.1', 'd.1'])
  })

  test('in a full queue, a caller replaces the newest work of a greedy one in the same network', async () => {
    const { run, started, rejected, endAll } = start(3)
    for (const name of ['a.1.run', 'a.1.x', 'a.1.y', 'a.1.z', 'a.2', 'a.2.more']) run(name)
    await endAll()
    expect(rejected).toEqual(['a.1.z', 'a.2.more'])
    expect(started).toEqual(['a.1.run', 'a.1.x', 'a.2', 'a.1.y'])
  })

  test('unknown sources, however many, leave every other turn and a queue of their own to known ones', async () => {
    const { run, started, rejected, endAll } = start(3)
    for (let network = 0; network < 20; network += 1) run(`${network}.1`)
    run('known.1', true)
    run('known.2', true)
    await endAll()
    expect(rejected).toHaveLength(16)
    expect(started).toEqual(['0.1', 'known.1', '1.1', 'known.2', '2.1', '3.1'])
  })

  test('continues after work that fails', async () => {
    const limiter = createFairLimiter({ maxRunning: 1, maxQueued: 1 })
    const source = { network: 'a', caller: '1', isKnown: false }
    const results = await Promise.allSettled([
      limiter.run(source, () => Promise.reject(new Error('no memory'))),
      limiter.run(source, async () => 'done'),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })
})
