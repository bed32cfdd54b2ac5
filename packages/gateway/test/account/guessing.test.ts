import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { argon2Cost, deriveArgon2 } from '../../src/control/account/argon2id.ts'
import { createPasswords } from '../../src/control/account/createPasswords.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { databases } from '../storage/databases.ts'
import { cheap, createFixture, newIp, newMail, passed, password } from './accountFixture.ts'

const minute = 60_000

describe.each(databases)('who guesses passwords, on $name,', (database) => {
  let storage: Storage
  beforeAll(async () => {
    storage = await openStorage(await database.create())
  })
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })

  test('makes two hashes at once with fifty log-ins, twenty wait, and the rest are told to come back', async () => {
    let running = 0
    let most = 0
    let held: Promise<unknown> = Promise.resolve()
    const { accounts, signUp } = createFixture(storage, {
      passwords: createPasswords({
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
    // No hash ends before the rest have been told.
    let release = (): void => {}
    held = new Promise<void>((resolve) => {
      release = resolve
    })
    let told = 0
    const results = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const result = await accounts.logIn({ email, password, ip: newIp() })
        if ('code' in result) told += 1
        if (told === 28) release()
        return result
      }),
    )
    const busy = results.filter((result) => 'code' in result)
    expect(most).toBe(2)
    expect(busy).toHaveLength(28)
    expect(busy.every(({ status, code }) => status === 429 && code === 'busy')).toBe(true)
    expect(busy.every(({ retryAfterMs }) => retryAfterMs === 1_000)).toBe(true)
    // Who was told so has not failed, and gets in afterwards.
    passed(await accounts.logIn({ email, password, ip: newIp() }))
  })

  test('from one address is slowed before any hash is made, also where all guesses come at once', async () => {
    const { accounts, clock, hashes, signUp } = createFixture(storage)
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
      message: 'too many tries from here: try again in 60 s',
      retryAfterMs: minute,
    })
    clock.now += minute
    passed(await guess(password))
  })

  test('is slowed alike whether the email address is one of an account or not', async () => {
    const { accounts, signUp } = createFixture(storage)
    const { email } = await signUp()
    const answersAbout = async (who: string) => {
      const ip = newIp()
      const answers = []
      for (let at = 0; at < 8; at += 1) answers.push(await accounts.logIn({ email: who, password: 'no such word', ip }))
      return answers
    }
    expect(await answersAbout(email)).toEqual(await answersAbout(newMail()))
  })

  test('from everywhere does not lock the owner out, and slows itself', async () => {
    const { accounts, hashes, signUp } = createFixture(storage)
    const { email } = await signUp()
    hashes.length = 0
    const ips = Array.from({ length: 60 }, newIp)
    for (let round = 0; round < 3; round += 1)
      for (const ip of ips) await accounts.logIn({ email, password: 'no such word', ip })
    // 50 before it is seen as an attack, and then one of each that is left.
    expect(hashes).toHaveLength(60)
    passed(await accounts.logIn({ email, password, ip: newIp() }))
    const [first = ''] = ips
    expect(await accounts.logIn({ email, password, ip: first })).toMatchObject({ code: 'too_many_tries' })
  })

  test('cannot fill the audit log', async () => {
    const { accounts, clock } = createFixture(storage)
    const [before] = await storage.auditLog.list({ limit: 1 })
    const flood = async () => {
      for (let at = 0; at < 150; at += 1)
        await accounts.logIn({ email: newMail(), password: 'no such word', ip: newIp() })
    }
    const added = async () =>
      (await storage.auditLog.list({ limit: 1_000 })).filter(({ id }) => id > (before?.id ?? 0)).length
    await flood()
    expect(await added()).toBe(100)
    clock.now += 10_000
    await flood()
    expect(await added()).toBe(110)
  })

  test('of others does not keep guesses at an account out of the audit log, nor are those without end', async () => {
    const { accounts, clock, signUp } = createFixture(storage)
    const { email, viewer } = await signUp()
    for (let at = 0; at < 110; at += 1)
      await accounts.logIn({ email: newMail(), password: 'no such word', ip: newIp() })
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

  test('and all else is let go from the audit log after its time', async () => {
    const { accounts, clock, signUp } = createFixture(storage, { auditDays: 10 })
    const { email, viewer } = await signUp()
    const actions = async () =>
      (await storage.auditLog.list({ userId: viewer.user.id, limit: 10 })).map(({ action }) => action)
    clock.now += 9 * 1_440 * minute
    passed(await accounts.logIn({ email, password, ip: newIp() }))
    expect(await actions()).toEqual(['account.logIn', 'account.signUp'])
    clock.now += 2 * 1_440 * minute
    // Others' entries are older: at each log-in a hundred are looked at.
    for (let at = 0; at < 5; at += 1) passed(await accounts.logIn({ email, password, ip: newIp() }))
    expect(await actions()).not.toContain('account.signUp')
    expect((await actions()).length).toBe(6)
  })
})
