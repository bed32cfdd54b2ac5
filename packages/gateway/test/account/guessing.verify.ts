import { describe, expect, test } from 'vitest'
import { argon2Cost, deriveArgon2 } from '../../src/control/account/argon2id.ts'
import { createPasswordHasher } from '../../src/control/account/createPasswordHasher.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { cheap, newIp, newEmail, expectOk, password } from './accountFixture.ts'
import { createFactorFixture } from './factorFixture.ts'
import { databasesAndFactors } from './factorKinds.ts'
import { useStorage } from '../storage/useStorage.ts'

const minute = 60_000

/** Creates a hasher whose hashes wait from `hold` to `release`. */
const createHeldHasher = () => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let isHeld = false
  const passwords = createPasswordHasher({
    derive: async (work) => {
      if (isHeld) await held
      return deriveArgon2({ ...work, cost: cheap })
    },
  })
  return {
    passwords,
    hold: () => {
      isHeld = true
    },
    release,
  }
}

describe.each(databasesAndFactors)('password guessing on $name', ({ database, factor }) => {
  /** For what happens before a factor is known, or does not depend on it. */
  const once = [factor].filter((one) => one === 'no factor')
  let storage: Storage
  useStorage(database, (opened) => (storage = opened))

  test('guesses from one IPv6 network do not make log-ins from other networks busy', async () => {
    const { passwords, hold, release } = createHeldHasher()
    const { accounts, signUp } = createFactorFixture(factor, storage, { passwords })
    const { email } = await signUp()
    hold()
    let rejected = 0
    const logIn = async (ip: string, request = { email, password }) => {
      const result = await accounts.logIn({ ...request, ip })
      if ('code' in result) rejected += 1
      return result
    }
    // 22 are hashed or wait.
    const waitForRejected = async (count: number): Promise<void> => {
      while (rejected < count) await new Promise((resolve) => setImmediate(resolve))
    }
    // A /56 has 256 blocks of /64, each of which is a caller of its own.
    const guesses = Array.from({ length: 200 }, (_, block) =>
      logIn(`2001:db8:1:${block.toString(16)}::1`, { email: newEmail(), password }),
    )
    await waitForRejected(178)
    const logIns = Array.from({ length: 12 }, (_, network) => logIn(`10.9.${network}.1`))
    const onSameNetwork = logIn('2001:db8:1:ff00::1')
    await waitForRejected(191)
    release()
    for (const result of await Promise.all(logIns)) expectOk(result)
    expect(await onSameNetwork).toMatchObject({ code: 'busy' })
    await Promise.all(guesses)
  })

  test('a network that has logged in has its share while many others guess', async () => {
    const { passwords, hold, release } = createHeldHasher()
    const { accounts, signUp } = createFactorFixture(factor, storage, { passwords })
    const { email } = await signUp()
    expectOk(await accounts.logIn({ email, password, ip: '192.0.2.1' }))
    hold()
    let rejected = 0
    const guesses = Array.from({ length: 100 }, async (_, network) => {
      const result = await accounts.logIn({ email: newEmail(), password, ip: `10.8.${network}.1` })
      if ('code' in result) rejected += 1
    })
    while (rejected < 78) await new Promise((resolve) => setImmediate(resolve))
    const logIn = accounts.logIn({ email, password, ip: '192.0.2.77' })
    expect(await accounts.logIn({ email, password, ip: '198.51.100.1' })).toMatchObject({ code: 'busy' })
    release()
    expectOk(await logIn)
    await Promise.all(guesses)
  })

  test.each(once)(
    'of fifty concurrent log-ins, two are hashed at once, twenty wait, and the rest are rejected',
    async () => {
      let running = 0
      let most = 0
      let held: Promise<unknown> = Promise.resolve()
      const { accounts, signUp } = createFactorFixture(factor, storage, {
        passwords: createPasswordHasher({
          derive: async (work) => {
            expect(work.cost).toEqual(argon2Cost)
            running += 1
            most = Math.max(most, running)
            await held
            const tag = await deriveArgon2({ ...work, cost: cheap })
            running -= 1
            return tag
          },
        }),
      })
      const { email } = await signUp()
      // No hash finishes before the rest have been rejected.
      let release = (): void => {}
      held = new Promise<void>((resolve) => {
        release = resolve
      })
      let rejected = 0
      const results = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const result = await accounts.logIn({ email, password, ip: newIp() })
          if ('code' in result) rejected += 1
          if (rejected === 28) release()
          return result
        }),
      )
      const busy = results.filter((result) => 'code' in result)
      expect(most).toBe(2)
      expect(busy).toHaveLength(28)
      expect(busy.every(({ status, code }) => status === 429 && code === 'busy')).toBe(true)
      expect(busy.every(({ retryAfterMs }) => retryAfterMs === 1_000)).toBe(true)
      // A rejected attempt does not count as a failure.
      expectOk(await accounts.logIn({ email, password, ip: newIp() }))
    },
  )

  test('from one IP address is throttled before hashing, even with concurrent guesses', async () => {
    const { accounts, clock, hashes, signUp } = createFactorFixture(factor, storage)
    const { email } = await signUp()
    hashes.length = 0
    const ip = newIp()
    const guess = (word: string) => accounts.logIn({ email, password: word, ip })
    const results = await Promise.all(Array.from({ length: 20 }, (_, at) => guess(`guess number ${at}`)))
    expect(results.filter((result) => 'code' in result && result.code === 'wrong_credentials')).toHaveLength(5)
    expect(results.filter((result) => 'code' in result && result.code === 'too_many_tries')).toHaveLength(15)
    expect(hashes).toHaveLength(5)
    expect(await guess(password)).toMatchObject({
      status: 429,
      message: 'Too many attempts from this IP address. Try again in 60 s.',
      retryAfterMs: minute,
    })
    clock.now += minute
    expectOk(await guess(password))
  })

  test('is throttled the same for known and unknown email addresses', async () => {
    const { accounts, signUp } = createFactorFixture(factor, storage)
    const { email } = await signUp()
    const attemptAll = async (who: string) => {
      const ip = newIp()
      const results = []
      for (let at = 0; at < 8; at += 1) results.push(await accounts.logIn({ email: who, password: 'no such word', ip }))
      return results
    }
    expect(await attemptAll(email)).toEqual(await attemptAll(newEmail()))
  })

  test('from many IP addresses is throttled without locking out the owner', async () => {
    const { accounts, hashes, signUp } = createFactorFixture(factor, storage)
    const { email } = await signUp()
    hashes.length = 0
    const ips = Array.from({ length: 60 }, newIp)
    for (let round = 0; round < 3; round += 1)
      for (const ip of ips) await accounts.logIn({ email, password: 'no such word', ip })
    // 50 before it counts as an attack, then one from each remaining address.
    expect(hashes).toHaveLength(60)
    expectOk(await accounts.logIn({ email, password, ip: newIp() }))
    const [first = ''] = ips
    expect(await accounts.logIn({ email, password, ip: first })).toMatchObject({ code: 'too_many_tries' })
  })

  test('cannot flood the audit log', async () => {
    const { accounts, clock } = createFactorFixture(factor, storage)
    const [before] = await storage.auditLog.list({ limit: 1 })
    const flood = async () => {
      for (let at = 0; at < 150; at += 1)
        await accounts.logIn({ email: newEmail(), password: 'no such word', ip: newIp() })
    }
    const added = async () =>
      (await storage.auditLog.list({ limit: 1_000 })).filter(({ id }) => id > (before?.id ?? 0)).length
    await flood()
    expect(await added()).toBe(100)
    clock.now += 10_000
    await flood()
    expect(await added()).toBe(110)
  })

  test('of other accounts does not suppress audit log entries, which are limited per account', async () => {
    const { accounts, clock, signUp } = createFactorFixture(factor, storage)
    const { email, viewer } = await signUp()
    for (let at = 0; at < 110; at += 1)
      await accounts.logIn({ email: newEmail(), password: 'no such word', ip: newIp() })
    const failures = async () =>
      (await storage.auditLog.list({ userId: viewer.user.id, limit: 1_000 })).filter(
        ({ action }) => action === 'account.logInFailed',
      ).length
    for (let at = 0; at < 30; at += 1) await accounts.logIn({ email, password: 'no such word', ip: newIp() })
    expect(await failures()).toBe(20)
    clock.now += minute
    for (let at = 0; at < 3; at += 1) await accounts.logIn({ email, password: 'no such word', ip: newIp() })
    expect(await failures()).toBe(21)
  })

  test.each(once)('is removed from the audit log after the retention period, like all entries', async () => {
    const { accounts, clock, signUp } = createFactorFixture(factor, storage, { auditDays: 10 })
    const { email, viewer } = await signUp()
    const actions = async () =>
      (await storage.auditLog.list({ userId: viewer.user.id, limit: 10 })).map(({ action }) => action)
    clock.now += 9 * 1_440 * minute
    expectOk(await accounts.logIn({ email, password, ip: newIp() }))
    expect(await actions()).toEqual(['account.logIn', 'account.signUp'])
    clock.now += 2 * 1_440 * minute
    // Each log-in prunes a hundred entries, and those of other tests are older.
    for (let at = 0; at < 5; at += 1) expectOk(await accounts.logIn({ email, password, ip: newIp() }))
    expect(await actions()).not.toContain('account.signUp')
    expect((await actions()).length).toBe(6)
  })
})
