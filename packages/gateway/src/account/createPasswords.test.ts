import { describe, expect, test } from 'vitest'
import { deriveArgon2 } from './argon2id.ts'
import { createPasswords } from './createPasswords.ts'

const cost = { memory: 64, passes: 1, parallelism: 1 }

/** Hashes that end when a test says so. */
const createGate = () => {
  const begun: (() => void)[] = []
  let most = 0
  let running = 0
  const passwords = createPasswords({
    cost,
    maxWaiting: 3,
    derive: async (work) => {
      running += 1
      most = Math.max(most, running)
      await new Promise<void>((resolve) => begun.push(resolve))
      running -= 1
      return deriveArgon2(work)
    },
  })
  return { passwords, begun, most: () => most }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('passwords', () => {
  test('are hashed two at a time, a few wait in their order, and the rest are told at once', async () => {
    const { passwords, begun, most } = createGate()
    const ended: number[] = []
    const all = Array.from({ length: 8 }, (_, at) =>
      (at % 2 === 0 ? passwords.hash('plum') : passwords.verify(undefined, 'plum')).then((result) => {
        if (result !== 'busy') ended.push(at)
        return result
      }),
    )
    expect(await Promise.all(all.slice(5))).toEqual(['busy', 'busy', 'busy'])
    expect(begun).toHaveLength(2)
    while (ended.length < 5) {
      begun.shift()?.()
      await turn()
    }
    expect(ended).toEqual([0, 1, 2, 3, 4])
    expect(most()).toBe(2)
    expect(await all[0]).toEqual({ phc: expect.stringMatching(/^\$argon2id/) })
    expect(await all[1]).toBe(false)
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
