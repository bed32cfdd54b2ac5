import { describe, expect, test } from 'vitest'
import { argon2Cost, deriveArgon2, hashArgon2, isWeakArgon2, verifyArgon2 } from './argon2id.ts'
import type { Argon2Cost, DeriveArgon2 } from './argon2id.ts'

const cheap: Argon2Cost = { memory: 64, passes: 1, parallelism: 1 }
// From the tests of the reference implementation (phc-winner-argon2, test.c).
const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'

/** Records the cost of each hash. */
const counting = () => {
  const costs: Argon2Cost[] = []
  const derive: DeriveArgon2 = (work) => {
    costs.push(work.cost)
    return deriveArgon2(work)
  }
  return { costs, derive }
}

describe('argon2id', () => {
  test("verifies the reference implementation's hash", async () => {
    expect(await verifyArgon2(reference, 'password')).toBe(true)
    expect(await verifyArgon2(reference, 'Password')).toBe(false)
  })

  test('hashes with a fresh salt at the default cost', async () => {
    const [one, two] = [await hashArgon2('plum tin roof'), await hashArgon2('plum tin roof')]
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(one).not.toBe(two)
    expect(await verifyArgon2(one, 'plum tin roof')).toBe(true)
    expect(await verifyArgon2(one, 'plum tin roof ')).toBe(false)
  })

  const broken = [
    undefined,
    '',
    '$argon2id$x',
    reference.replace('argon2id', 'argon2i'),
    reference.replace('v=19', 'v=16'),
    reference.replace('m=65536', 'm=99999999'),
    reference.replace('t=2', 't=65'),
    reference.replace('p=1', 'p=17'),
    reference.replace('m=65536', 'm=7'),
    `${reference}$`,
    reference.slice(0, -30),
  ]
  test.each(broken)('computes one hash for a missing account or a malformed hash: %s', async (stored) => {
    const { costs, derive } = counting()
    expect(await verifyArgon2(stored, 'password', { derive, cost: cheap })).toBe(false)
    expect(costs).toEqual([cheap])
    if (stored !== undefined) expect(isWeakArgon2(stored)).toBe(true)
  })

  test('a hash is weak if any part of its cost is below the default', async () => {
    expect(isWeakArgon2(await hashArgon2('x', { cost: cheap }), cheap)).toBe(false)
    expect(isWeakArgon2(reference)).toBe(false)
    expect(isWeakArgon2(reference, { ...argon2Cost, passes: 3 })).toBe(true)
    expect(isWeakArgon2(reference, { ...argon2Cost, memory: 65_537 })).toBe(true)
  })
})
