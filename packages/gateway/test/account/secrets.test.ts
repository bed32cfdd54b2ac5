import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findLeaks } from '@keyrail/core/test/leakWalk.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { createFixture, newIp, newEmail, expectOk, password } from './accountFixture.ts'

const next = 'Qz7!vermilion-otter-kayak'
const wrong = 'Wx9!cobalt-heron-ladder'
const operatorToken = 'Ov5!zUqk3WmPf8TnLx2RyHd7CvBs9GjK'

describe.each(suiteDatabases)('secrets on $name', (database) => {
  let options: StorageOptions
  let storage: Storage
  beforeAll(async () => {
    options = await database.create()
    storage = await openStorage(options)
  })
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })

  test('do not appear in results, errors, the audit log or the database files', async () => {
    const { accounts, clock, mode } = createFixture(storage, { operatorToken })
    const { operator } = accounts
    const secrets = [password, next, wrong, operatorToken]
    const shown: unknown[] = []
    /** Records a result, except for the secret that it is meant to return. */
    const record = <T>(result: T): T => {
      if (typeof result === 'object' && result !== null) {
        const { token, text, ...rest } = result as { token?: string; text?: string }
        for (const secret of [token, text]) if (secret !== undefined) secrets.push(secret)
        shown.push(rest)
      } else shown.push(result)
      return result
    }
    const ip = newIp()
    const email = newEmail()
    const first = expectOk(record(await accounts.signUp({ email, password, ip, userAgent: 'Firefox' })))
    record(await accounts.signUp({ email, password: next, ip }))
    record(await accounts.signUp({ email: password, password: next, ip }))
    record(await accounts.signUp({ email: newEmail(), password: `${wrong}\uD800`, ip }))
    const invite = expectOk(record(await operator.inviteUser({})))
    const unused = expectOk(record(await operator.inviteUser({ email: newEmail() })))
    mode.signUp = 'invite'
    record(await accounts.signUp({ email: newEmail(), password, invite: wrong, ip }))
    record(await accounts.signUp({ email: newEmail(), password, invite: unused.text, ip }))
    record(await accounts.signUp({ email: newEmail(), password, invite: invite.text, ip }))
    record(await accounts.signUp({ email: newEmail(), password, invite: invite.text, ip }))
    // Users may type the password into the email field.
    record(await accounts.logIn({ email: `${wrong}@example.org`, password: wrong, ip }))
    for (let at = 0; at < 7; at += 1) record(await accounts.logIn({ email, password: wrong, ip }))
    const second = expectOk(record(await accounts.logIn({ email, password, current: first.token, ip: newIp() })))
    const { viewer } = second
    record(await accounts.authenticate(second.token))
    record(await accounts.authenticate(wrong))
    const token = expectOk(
      record(await accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null, ip })),
    )
    record(await accounts.createAccessToken({ viewer, label: '', scopes: [wrong], expiresAt: null, ip }))
    record(await accounts.authenticateToken(token.text))
    record(await accounts.authenticateToken(wrong))
    record(await accounts.listAccessTokens(viewer))
    clock.now += 16 * 60_000
    record(await accounts.confirm(viewer))
    record(await accounts.confirm(viewer, wrong))
    record(await accounts.changePassword({ viewer, current: wrong, next, ip }))
    const changed = expectOk(record(await accounts.changePassword({ viewer, current: password, next, ip })))
    const link = expectOk(record(await operator.resetLink({ id: viewer.user.id })))
    record(await accounts.resetPassword({ link: wrong, password: next, ip: newIp() }))
    record(await accounts.resetPassword({ link: link.text, password: 'short', ip: newIp() }))
    expectOk(record(await accounts.resetPassword({ link: link.text, password, ip: newIp() })))
    record(await operator.listUsers({ limit: 100 }))
    record(await operator.findUser({ email }))
    record(await operator.addUser({ email: newEmail(), password: next }))
    record(await operator.setUserLimits({ id: viewer.user.id, limits: { perDay: 5 } }))
    record(await operator.listInvites({ limit: 100 }))
    record(await operator.setUserState({ id: viewer.user.id, state: 'disabled' }))
    record(await accounts.logIn({ email, password, ip: newIp() }))
    record(await operator.setUserState({ id: viewer.user.id, state: 'active' }))
    const last = expectOk(record(await accounts.logIn({ email, password, ip: newIp() })))
    record(await accounts.deleteAccount({ viewer: last.viewer, password: wrong, ip }))
    record(await accounts.deleteAccount({ viewer: last.viewer, password, ip }))
    await accounts.logOut(changed.token)

    shown.push(await storage.auditLog.list({ limit: 1_000 }), accounts)
    expect(secrets.length).toBeGreaterThan(12)
    expect(shown.length).toBeGreaterThan(40)
    expect(findLeaks(shown, ...secrets)).toEqual([])
    expect(JSON.stringify(shown)).not.toContain('argon2')

    if ('file' in options) {
      const folder = dirname(options.file)
      const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
      expect(files.join('').includes(email)).toBe(true)
      for (const secret of secrets) expect(files.filter((file) => file.includes(secret))).toEqual([])
    }
  })

  test('do not appear in errors while the database is unavailable', async () => {
    const gone = await openStorage(await database.create())
    const { accounts, signUp } = createFixture(gone)
    const { viewer, token, email } = await signUp()
    await gone.close()
    const ip = newIp()
    const works: (() => Promise<unknown>)[] = [
      () => accounts.signUp({ email: newEmail(), password, ip }),
      () => accounts.logIn({ email, password, current: token, ip }),
      () => accounts.logOut(token),
      () => accounts.authenticate(token),
      () => accounts.changePassword({ viewer, current: password, next, ip }),
      () => accounts.deleteAccount({ viewer, password, ip }),
      () => accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null }),
      () => accounts.operator.addUser({ email: newEmail(), password }),
      () => accounts.operator.resetLink({ id: viewer.user.id }),
    ]
    for (const work of works) {
      const error: unknown = await work().then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toMatchObject({ name: 'StorageError', fault: 'unavailable' })
      expect(findLeaks(error, password, next, token, email)).toEqual([])
    }
    // An internal error does not count as a failed attempt.
    for (let at = 0; at < 10; at += 1)
      await expect(accounts.logIn({ email, password, ip })).rejects.toThrow('the database')
  })
})
