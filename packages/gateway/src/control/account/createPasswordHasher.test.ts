import { describe, expect, test } from 'vitest'
import { createPasswordHasher } from './createPasswordHasher.ts'

const cost = { memory: 64, passes: 1, parallelism: 1 }

/** A hasher whose hashes finish when the test calls `finish`. */
const createGate = () => {
  const started: string[] = []
  const finish: (() => void)[] = []
  let max = 0
  let running = 0
  const passwords = createPasswordHasher({
    cost,
    maxQueued: 3,
    derive: async ({ message, tagLength }) => {
      started.push(Buffer.from(message).toString())
      running += 1
      max = Math.max(max, running)
      await new Promise<void>((resolve) => finish.push(resolve))
      running -= 1
      return new Uint8Array(tagLength)
    },
  })
  return { passwords, started, finish, max: () => max }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('createPasswordHasher', () => {
  test('hashes two at a time in order, and rejects immediately when the queue is full', async () => {
    const { passwords, started, finish, max } = createGate()
    const all = Array.from({ length: 8 }, (_, at) =>
      at % 2 === 0 ? passwords.hash(`plum ${at}`) : passwords.verify(undefined, `plum ${at}`),
    )
    expect(await Promise.all(all.slice(5))).toEqual(['busy', 'busy', 'busy'])
    expect(started).toEqual(['plum 0', 'plum 1'])
    for (let finished = 0; finished < 5; finished += 1) {
      finish.shift()?.()
      await turn()
    }
    const phc = { phc: expect.stringMatching(/^\$argon2id/) }
    expect(await Promise.all(all.slice(0, 5))).toEqual([phc, false, phc, false, phc])
    expect(started).toEqual([0, 1, 2, 3, 4].map((at) => `plum ${at}`))
    expect(max()).toBe(2)
  })

  test('never exceeds the limit while hashes finish and others arrive', async () => {
    const { passwords, started, finish, max } = createGate()
    const all: Promise<unknown>[] = []
    for (let at = 0; at < 20; at += 1) {
      all.push(passwords.hash(`plum ${at}`))
      if (at % 4 === 3)
        for (let finished = 0; finished < 4; finished += 1) {
          finish.shift()?.()
          await turn()
        }
    }
    expect((await Promise.all(all)).includes('busy')).toBe(false)
    expect(started).toHaveLength(20)
    expect(max()).toBe(2)
  })

  test('continues after a failed hash', async () => {
    let calls = 0
    const passwords = createPasswordHasher({
      maxConcurrent: 1,
      derive: () => {
        calls += 1
        return calls === 1 ? Promise.reject(new Error('no memory')) : Promise.resolve(new Uint8Array(32))
      },
    })
    const [first, second] = await Promise.allSettled([passwords.hash('plum'), passwords.hash('plum')])
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled'])
    expect(await passwords.hash('plum')).not.toBe('busy')
  })

  test('normalizes passwords from different keyboards', async () => {
    const passwords = createPasswordHasher({ cost })
    const hashed = await passwords.hash('\u00e9\uFB01')
    if (hashed === 'busy') throw new Error('busy')
    expect(await passwords.verify(hashed.phc, 'e\u0301fi')).toBe(true)
    expect(await passwords.verify(hashed.phc, 'efi')).toBe(false)
  })
})
