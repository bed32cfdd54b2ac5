import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { leaksOf } from '@keyrail/core/test/leakWalk.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { databases } from '../storage/databases.ts'
import { createFixture, newIp, newMail, passed, password } from './accountFixture.ts'

const next = 'Qz7!vermilion-otter-kayak'
const wrong = 'Wx9!cobalt-heron-ladder'
const operatorToken = 'Ov5!zUqk3WmPf8TnLx2RyHd7CvBs9GjK'

describe.each(databases)('nothing holds a secret on $name:', (database) => {
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

  test('not what is rejected or given back, not the audit log, not the files of the database', async () => {
    const { accounts, clock, mode } = createFixture(storage, { operatorToken })
    const { operator } = accounts
    const secrets = [password, next, wrong, operatorToken]
    const shown: unknown[] = []
    /** Keeps what was given back, without the secret that it is there to give. */
    const keep = <T>(result: T): T => {
      if (typeof result === 'object' && result !== null) {
        const { token, text, ...rest } = result as { token?: string; text?: string }
        for (const secret of [token, text]) if (secret !== undefined) secrets.push(secret)
        shown.push(rest)
      } else shown.push(result)
      return result
    }
    const ip = newIp()
    const email = newMail()
    const first = passed(keep(await accounts.signUp({ email, password, ip, userAgent: 'Firefox' })))
    keep(await accounts.signUp({ email, password: next, ip }))
    keep(await accounts.signUp({ email: password, password: next, ip }))
    keep(await accounts.signUp({ email: newMail(), password: `${wrong}\uD800`, ip }))
    const invite = passed(keep(await operator.inviteUser({})))
    const unused = passed(keep(await operator.inviteUser({ email: newMail() })))
    mode.signUp = 'invite'
    keep(await accounts.signUp({ email: newMail(), password, invite: wrong, ip }))
    keep(await accounts.signUp({ email: newMail(), password, invite: unused.text, ip }))
    keep(await accounts.signUp({ email: newMail(), password, invite: invite.text, ip }))
    keep(await accounts.signUp({ email: newMail(), password, invite: invite.text, ip }))
    // Some type the password where the email address goes.
    keep(await accounts.logIn({ email: `${wrong}@example.org`, password: wrong, ip }))
    for (let at = 0; at < 7; at += 1) keep(await accounts.logIn({ email, password: wrong, ip }))
    const second = passed(keep(await accounts.logIn({ email, password, current: first.token, ip: newIp() })))
    const { viewer } = second
    keep(await accounts.authenticate(second.token))
    keep(await accounts.authenticate(wrong))
    const token = passed(
      keep(await accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null, ip })),
    )
    keep(await accounts.createAccessToken({ viewer, label: '', scopes: [wrong], expiresAt: null, ip }))
    keep(await accounts.authenticateToken(token.text))
    keep(await accounts.authenticateToken(wrong))
    keep(await accounts.listAccessTokens(viewer))
    clock.now += 16 * 60_000
    keep(await accounts.confirm(viewer))
    keep(await accounts.confirm(viewer, wrong))
    keep(await accounts.changePassword({ viewer, current: wrong, next, ip }))
    const changed = passed(keep(await accounts.changePassword({ viewer, current: password, next, ip })))
    const link = passed(keep(await operator.resetLink({ id: viewer.user.id })))
    keep(await accounts.resetPassword({ link: wrong, password: next, ip: newIp() }))
    keep(await accounts.resetPassword({ link: link.text, password: 'short', ip: newIp() }))
    passed(keep(await accounts.resetPassword({ link: link.text, password, ip: newIp() })))
    keep(await operator.listUsers({ limit: 100 }))
    keep(await operator.findUser({ email }))
    keep(await operator.addUser({ email: newMail(), password: next }))
    keep(await operator.setUserLimits({ id: viewer.user.id, limits: { perDay: 5 } }))
    keep(await operator.listInvites({ limit: 100 }))
    keep(await operator.setUserState({ id: viewer.user.id, state: 'disabled' }))
    keep(await accounts.logIn({ email, password, ip: newIp() }))
    keep(await operator.setUserState({ id: viewer.user.id, state: 'active' }))
    const last = passed(keep(await accounts.logIn({ email, password, ip: newIp() })))
    keep(await accounts.deleteAccount({ viewer: last.viewer, password: wrong, ip }))
    keep(await accounts.deleteAccount({ viewer: last.viewer, password, ip }))
    await accounts.logOut(changed.token)

    shown.push(await storage.auditLog.list({ limit: 1_000 }), accounts)
    expect(secrets.length).toBeGreaterThan(12)
    expect(shown.length).toBeGreaterThan(40)
    expect(leaksOf(shown, ...secrets)).toEqual([])
    expect(JSON.stringify(shown)).not.toContain('argon2')

    if ('file' in options) {
      const folder = dirname(options.file)
      const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
      expect(files.join('').includes(email)).toBe(true)
      for (const secret of secrets) expect(files.filter((file) => file.includes(secret))).toEqual([])
    }
  })

  test('not what is thrown where the database is gone', async () => {
    const gone = await openStorage(await database.create())
    const { accounts, signUp } = createFixture(gone)
    const { viewer, token, email } = await signUp()
    await gone.close()
    const ip = newIp()
    const works: (() => Promise<unknown>)[] = [
      () => accounts.signUp({ email: newMail(), password, ip }),
      () => accounts.logIn({ email, password, current: token, ip }),
      () => accounts.logOut(token),
      () => accounts.authenticate(token),
      () => accounts.changePassword({ viewer, current: password, next, ip }),
      () => accounts.deleteAccount({ viewer, password, ip }),
      () => accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null }),
      () => accounts.operator.addUser({ email: newMail(), password }),
      () => accounts.operator.resetLink({ id: viewer.user.id }),
    ]
    for (const work of works) {
      const error: unknown = await work().then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toMatchObject({ name: 'StorageError', fault: 'unavailable' })
      expect(leaksOf(error, password, next, token, email)).toEqual([])
    }
    // A try that failed for our own reasons is no failure of the caller.
    for (let at = 0; at < 10; at += 1)
      await expect(accounts.logIn({ email, password, ip })).rejects.toThrow('the database')
  })
})
