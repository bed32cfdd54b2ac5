import { describe, expect, test } from 'vitest'
import { createPasswords } from './createPasswords.ts'

const cost = { memory: 64, passes: 1, parallelism: 1 }

/** Hashes that end when a test says so. */
const createGate = () => {
  const begun: string[] = []
  const ends: (() => void)[] = []
  let most = 0
  let running = 0
  const passwords = createPasswords({
    cost,
    maxWaiting: 3,
    derive: async ({ message, tagLength }) => {
      begun.push(Buffer.from(message).toString())
      running += 1
      most = Math.max(most, running)
      await new Promise<void>((resolve) => ends.push(resolve))
      running -= 1
      return new Uint8Array(tagLength)
    },
  })
  return { passwords, begun, ends, most: () => most }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('passwords', () => {
  test('are hashed two at a time, a few wait in their order, and the rest are told at once', async () => {
    const { passwords, begun, ends, most } = createGate()
    const all = Array.from({ length: 8 }, (_, at) =>
      at % 2 === 0 ? passwords.hash(`plum ${at}`) : passwords.verify(undefined, `plum ${at}`),
    )
    expect(await Promise.all(all.slice(5))).toEqual(['busy', 'busy', 'busy'])
    expect(begun).toEqual(['plum 0', 'plum 1'])
    for (let ended = 0; ended < 5; ended += 1) {
      ends.shift()?.()
      await turn()
    }
    const phc = { phc: expect.stringMatching(/^\$argon2id/) }
    expect(await Promise.all(all.slice(0, 5))).toEqual([phc, false, phc, false, phc])
    expect(begun).toEqual([0, 1, 2, 3, 4].map((at) => `plum ${at}`))
    expect(most()).toBe(2)
  })

  test('are no more than two at once where others come while some end', async () => {
    const { passwords, begun, ends, most } = createGate()
    const all: Promise<unknown>[] = []
    for (let at = 0; at < 20; at += 1) {
      all.push(passwords.hash(`plum ${at}`))
      if (at % 4 === 3)
        for (let ended = 0; ended < 4; ended += 1) {
          ends.shift()?.()
          await turn()
        }
    }
    expect((await Promise.all(all)).includes('busy')).toBe(false)
    expect(begun).toHaveLength(20)
    expect(most()).toBe(2)
  })

  test('go on after a hash that failed', async () => {
    let calls = 0
    const passwords = createPasswords({
      maxAtOnce: 1,
      derive: () => {
        calls += 1
        return calls === 1 ? Promise.reject(new Error('no memory')) : Promise.resolve(new Uint8Array(32))
      },
    })
    const [first, second] = await Promise.allSettled([passwords.hash('plum'), passwords.hash('plum')])
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled'])
    expect(await passwords.hash('plum')).not.toBe('busy')
  })

  test('are the same however a keyboard writes them', async () => {
    const passwords = createPasswords({ cost })
    const hashed = await passwords.hash('\u00e9\uFB01')
    if (hashed === 'busy') throw new Error('busy')
    expect(await passwords.verify(hashed.phc, 'e\u0301fi')).toBe(true)
    expect(await passwords.verify(hashed.phc, 'efi')).toBe(false)
  })
})
