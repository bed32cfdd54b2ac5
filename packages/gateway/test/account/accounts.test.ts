import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hashArgon2 } from '../../src/control/account/argon2id.ts'
import { createPasswordHasher } from '../../src/control/account/createPasswordHasher.ts'
import { hashSecret } from '../../src/control/account/secretText.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { databases } from '../storage/databases.ts'
import { addApiKey, addApp } from '../storage/fill.ts'
import { cheap, createFixture, newIp, newEmail, expectOk, password } from './accountFixture.ts'
import type { AccountFixture } from './accountFixture.ts'

const minute = 60_000
const day = 86_400_000

describe.each(databases)('accounts on $name', (database) => {
  let storage: Storage
  let fixture: AccountFixture
  beforeAll(async () => {
    storage = await openStorage(await database.create())
  })
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })
  beforeEach(() => {
    fixture = createFixture(storage)
  })

  const listActions = async (userId: string): Promise<readonly string[]> =>
    (await storage.auditLog.list({ userId, limit: 50 })).map(({ action }) => action).reverse()

  describe('sign-up', () => {
    test('creates an account and logs in', async () => {
      const { accounts, clock } = fixture
      const email = newEmail()
      const { viewer, token, expiresAt } = expectOk(
        await accounts.signUp({ email: ` ${email} `, password, ip: '192.0.2.1', userAgent: 'Firefox' }),
      )
      expect(viewer.user).toEqual({
        id: expect.stringMatching(/^usr_/),
        email,
        emailVerifiedAt: null,
        hasSecondFactor: false,
        hasPassword: true,
        state: 'active',
        role: 'user',
        limits: null,
        createdAt: clock.now,
      })
      expect(viewer.session).toMatchObject({ userId: viewer.user.id, ip: '192.0.2.1', userAgent: 'Firefox' })
      expect(expiresAt).toBe(clock.now + 30 * day)
      expect(await accounts.authenticate(token)).toEqual(viewer)
      expect(await listActions(viewer.user.id)).toEqual(['account.signUp'])
    })

    test('rejects an email address that is taken, ignoring letter case, or invalid', async () => {
      const { accounts, signUp, hashes } = fixture
      const { email } = await signUp()
      hashes.length = 0
      expect(await accounts.signUp({ email: email.toUpperCase(), password, ip: newIp() })).toMatchObject({
        status: 409,
        code: 'email_taken',
        field: 'email',
      })
      for (const wrong of [
        '',
        'ann',
        '@x',
        'a@',
        'a@b@c',
        'a b@c',
        'a\uFF20b@c',
        'a\u0000@c',
        `${'a'.repeat(250)}@b.cd`,
      ])
        expect(await accounts.signUp({ email: wrong, password, ip: newIp() })).toMatchObject({
          status: 422,
          code: 'email_invalid',
        })
      expect(hashes).toEqual([])
    })

    test('ten concurrent sign-ups with one email address create one account', async () => {
      const { accounts } = fixture
      const email = newEmail()
      const results = await Promise.all(
        Array.from({ length: 10 }, () => accounts.signUp({ email, password, ip: newIp() })),
      )
      expect(results.filter((result) => 'token' in result)).toHaveLength(1)
      expect(results.filter((result) => 'code' in result && result.code === 'email_taken')).toHaveLength(9)
    })

    test('rejects a weak password and names the field', async () => {
      const { accounts } = fixture
      expect(await accounts.signUp({ email: newEmail(), password: 'Password123!', ip: newIp() })).toEqual({
        status: 422,
        code: 'password_invalid',
        message: 'The password is easy to guess. Use a longer one, such as four words.',
        field: 'password',
      })
    })

    test('is rejected for everyone if it is closed', async () => {
      const { accounts, mode, signUp } = fixture
      const { email } = await signUp()
      const { text } = expectOk(await accounts.operator.inviteUser({}))
      mode.signUp = 'closed'
      for (const who of [email, newEmail()])
        expect(await accounts.signUp({ email: who, password, invite: text, ip: newIp() })).toMatchObject({
          status: 403,
          code: 'sign_up_closed',
        })
      expect(await accounts.operator.inviteUser({})).toMatchObject({ status: 409, code: 'sign_up_closed' })
    })

    test('does not count toward the throttle if the hash queue is full', async () => {
      const passwords = createPasswordHasher({ cost: cheap })
      let full = true
      const { accounts } = createFixture(storage, {
        signUpBurst: 1,
        passwords: { ...passwords, hash: async (word, ip) => (full ? 'busy' : passwords.hash(word, ip)) },
      })
      const ip = newIp()
      const signUp = () => accounts.signUp({ email: newEmail(), password, ip })
      expect([await signUp(), await signUp()]).toMatchObject([{ code: 'busy' }, { code: 'busy' }])
      full = false
      expectOk(await signUp())
      expect(await signUp()).toMatchObject({ code: 'too_many_tries' })
    })

    test('is throttled by IPv4 address and by /64 of IPv6', async () => {
      const { accounts } = createFixture(storage, { signUpBurst: 3 })
      const from = (ip: string) => accounts.signUp({ email: newEmail(), password, ip })
      for (const end of [1, 2, 3]) expectOk(await from(`2001:db8:7:7::${end}`))
      expect(await from('2001:db8:7:7:ffff::9')).toMatchObject({
        status: 429,
        code: 'too_many_tries',
        retryAfterMs: minute,
      })
      expectOk(await from('2001:db8:7:8::1'))
    })
  })

  describe('an invite', () => {
    test('works for one account, even with ten concurrent sign-ups', async () => {
      const { accounts, mode } = fixture
      mode.signUp = 'invite'
      const { text, invite } = expectOk(await accounts.operator.inviteUser({}))
      expect(text).toMatch(/^kri_[0-9A-Za-z]{39}$/)
      const results = await Promise.all(
        Array.from({ length: 10 }, () => accounts.signUp({ email: newEmail(), password, invite: text, ip: newIp() })),
      )
      const [one, ...more] = results.filter((result) => 'token' in result)
      expect(more).toEqual([])
      expect(results.filter((result) => 'code' in result && result.code === 'invite_invalid')).toHaveLength(9)
      const { user } = expectOk(one).viewer
      expect(await storage.auditLog.list({ userId: user.id, limit: 1 })).toMatchObject([
        { action: 'account.signUp', detail: { invite: invite.id } },
      ])
    })

    test('is checked before the email address', async () => {
      const { accounts, mode, signUp } = fixture
      const { email } = await signUp()
      mode.signUp = 'invite'
      const results = []
      for (const who of [email, newEmail()])
        for (const invite of [undefined, '', 'kri_', 'x'.repeat(43)])
          results.push(await accounts.signUp({ email: who, password, invite, ip: newIp() }))
      expect(results.slice(0, 4)).toEqual(results.slice(4))
      expect(results.slice(0, 4)).toMatchObject([
        { status: 403, code: 'invite_required' },
        { status: 403, code: 'invite_required' },
        { status: 403, code: 'invite_invalid' },
        { status: 403, code: 'invite_invalid' },
      ])
    })

    test('expires, can be revoked, and can be bound to one email address', async () => {
      const { accounts, mode, clock } = fixture
      mode.signUp = 'invite'
      const { operator } = accounts
      const use = (invite: string, email = newEmail()) => accounts.signUp({ email, password, invite, ip: newIp() })
      const short = expectOk(await operator.inviteUser({ validMs: 1_000 }))
      const back = expectOk(await operator.inviteUser({}))
      const email = newEmail()
      const bound = expectOk(await operator.inviteUser({ email }))
      const listed = async () => (await operator.listInvites({ limit: 100 })).map(({ id }) => id)
      expect(await listed()).toEqual(expect.arrayContaining([short.invite.id, back.invite.id, bound.invite.id]))
      expect(await operator.removeInvite({ id: back.invite.id })).toBe(true)
      expect(await operator.removeInvite({ id: back.invite.id })).toBe(false)
      clock.now += 1_000
      expect(await listed()).not.toContain(short.invite.id)
      for (const rejected of [use(short.text), use(back.text), use(bound.text)])
        expect(await rejected).toMatchObject({ code: 'invite_invalid' })
      expectOk(await use(bound.text, email.toUpperCase()))
    })

    test('is not used up by an email address that is taken', async () => {
      const { accounts, mode, signUp } = fixture
      const { email } = await signUp()
      mode.signUp = 'invite'
      const { text } = expectOk(await accounts.operator.inviteUser({}))
      const use = (who: string) => accounts.signUp({ email: who, password, invite: text, ip: newIp() })
      expect(await use(email)).toMatchObject({ code: 'email_taken' })
      expectOk(await use(newEmail()))
    })
  })

  describe('log-in', () => {
    test("creates a new session and ends the browser's old one", async () => {
      const { accounts, signUp } = fixture
      const first = await signUp()
      const other = expectOk(await accounts.logIn({ email: first.email, password, ip: newIp() }))
      const second = expectOk(
        await accounts.logIn({ email: first.email.toUpperCase(), password, current: first.token, ip: newIp() }),
      )
      expect(new Set([first.token, other.token, second.token]).size).toBe(3)
      expect(await accounts.authenticate(first.token)).toBeUndefined()
      expect(await accounts.authenticate(other.token)).toBeDefined()
      expect(await accounts.authenticate(second.token)).toEqual(second.viewer)
    })

    test('accepts the password in another Unicode normalization form', async () => {
      const { accounts } = fixture
      const email = newEmail()
      expectOk(await accounts.signUp({ email, password: 'caf\u00e9 brul\u00e9 12', ip: newIp() }))
      expect(await accounts.logIn({ email, password: 'cafe\u0301 brule\u0301 12', ip: newIp() })).toHaveProperty(
        'token',
      )
    })

    test('does the same work and returns the same error for a wrong password and an unknown email address', async () => {
      const { accounts, signUp, hashes } = fixture
      const { email, viewer } = await signUp()
      const attempt = async (who: string, word = 'wrong password') => {
        hashes.length = 0
        const result = await accounts.logIn({ email: who, password: word, ip: newIp() })
        return { result, hashes: [...hashes] }
      }
      const [wrong, unknown] = [await attempt(email), await attempt(newEmail())]
      expect(wrong).toEqual(unknown)
      expect(wrong).toEqual({
        result: { status: 401, code: 'wrong_credentials', message: 'The email address or the password is wrong.' },
        hashes: [cheap],
      })
      const long = 'x'.repeat(2_000)
      expect(await attempt(email, long)).toEqual(await attempt(newEmail(), long))
      const disabled = await signUp()
      expectOk(await accounts.operator.setUserState({ id: disabled.viewer.user.id, state: 'disabled' }))
      expect(await attempt(disabled.email)).toEqual(unknown)
      expect(await listActions(viewer.user.id)).toEqual(['account.signUp', 'account.logInFailed'])
    })

    test('hashes the password again if its hash is weak', async () => {
      const { accounts, signUp } = fixture
      const { email, viewer } = await signUp()
      const { id } = viewer.user
      const weak = await hashArgon2(password, { cost: { memory: 8, passes: 1, parallelism: 1 } })
      await storage.users.setPassword(id, weak)
      expect(await accounts.logIn({ email, password: 'wrong password', ip: newIp() })).toMatchObject({ status: 401 })
      expect((await storage.users.find(id))?.password).toBe(weak)
      expectOk(await accounts.logIn({ email, password, ip: newIp() }))
      const strong = (await storage.users.find(id))?.password
      expect(strong).toContain('$m=64,t=1,p=1$')
      expectOk(await accounts.logIn({ email, password, ip: newIp() }))
      expect((await storage.users.find(id))?.password).toBe(strong)
    })

    test('hashing again does not restore a password that was changed concurrently', async () => {
      const { signUp } = fixture
      const { email, viewer } = await signUp()
      const { id } = viewer.user
      await storage.users.setPassword(id, await hashArgon2(password, { cost: { ...cheap, memory: 8 } }))
      const next = await hashArgon2('seven blue herons', { cost: cheap })
      const { accounts } = createFixture({
        ...storage,
        users: {
          ...storage.users,
          setPassword: async (...change) => {
            await storage.users.setPassword(id, next)
            return storage.users.setPassword(...change)
          },
        },
      })
      expect(await accounts.logIn({ email, password, ip: newIp() })).toMatchObject({ code: 'wrong_credentials' })
      expect((await storage.users.find(id))?.password).toBe(next)
    })

    test.each<[event: string, (id: string) => Promise<unknown>]>([
      [
        'the password was changed',
        async (id) => storage.users.setPassword(id, await hashArgon2('seven blue herons', { cost: cheap })),
      ],
      ['the account was disabled', (id) => storage.users.setState(id, 'disabled')],
      ['the account was deleted', (id) => storage.users.remove(id)],
    ])('that started before %s does not succeed', async (_event, happen) => {
      const { email, viewer } = await fixture.signUp()
      const { id } = viewer.user
      // It happens after the password was verified.
      const { accounts } = createFixture({
        ...storage,
        transaction: async (work) => {
          await happen(id)
          return storage.transaction(work)
        },
      })
      const before = await storage.sessions.list(id)
      expect(await accounts.logIn({ email, password, ip: newIp() })).toMatchObject({ code: 'wrong_credentials' })
      expect((await storage.sessions.list(id)).length).toBeLessThanOrEqual(before.length)
    })
  })

  describe('a session', () => {
    test('expires 7 days after its last use, and 30 days after log-in', async () => {
      const { accounts, clock, signUp } = fixture
      const idle = await signUp()
      clock.now += 7 * day - 1
      expect(await accounts.authenticate(idle.token)).toBeDefined()
      clock.now += 7 * day - 1
      expect(await accounts.authenticate(idle.token)).toBeDefined()
      clock.now += 7 * day
      expect(await accounts.authenticate(idle.token)).toBeUndefined()
      const used = await signUp()
      for (let at = 1; at < 30; at += 1) {
        clock.now += day
        expect(await accounts.authenticate(used.token)).toBeDefined()
      }
      clock.now += day - 1
      expect(await accounts.authenticate(used.token)).toBeDefined()
      clock.now += 1
      expect(await accounts.authenticate(used.token)).toBeUndefined()
    })

    test('records its use at most once per minute', async () => {
      const { accounts, clock, signUp } = fixture
      const { token, viewer } = await signUp()
      const seenAt = async () => (await storage.sessions.list(viewer.user.id))[0]?.seenAt
      const startedAt = clock.now
      clock.now += minute - 1
      await accounts.authenticate(token)
      expect(await seenAt()).toBe(startedAt)
      clock.now += 1
      expect(await accounts.authenticate(token)).toMatchObject({ session: { seenAt: startedAt + minute } })
      expect(await seenAt()).toBe(startedAt + minute)
    })

    test('ends at log-out, and only with its own token', async () => {
      const { accounts, signUp } = fixture
      const { token, viewer } = await signUp()
      await accounts.logOut(`${token.slice(1)}A`)
      await accounts.logOut('none')
      expect(await accounts.authenticate(token)).toBeDefined()
      await accounts.logOut(token, { ip: '192.0.2.1' })
      await accounts.logOut(token)
      expect(await accounts.authenticate(token)).toBeUndefined()
      expect(await listActions(viewer.user.id)).toEqual(['account.signUp', 'account.logOut'])
    })

    test('is stored as a hash only, and expired rows are pruned', async () => {
      const { accounts, clock, signUp } = fixture
      const { token, viewer, email } = await signUp()
      const invite = expectOk(await accounts.operator.inviteUser({}))
      const link = expectOk(await accounts.operator.resetLink({ id: viewer.user.id }))
      const stored = async () => [
        await storage.sessions.find(hashSecret(token)),
        await storage.invites.find(hashSecret(invite.text)),
        await storage.oneTimeLinks.find(hashSecret(link.text)),
      ]
      expect(await stored()).toMatchObject([
        { userId: viewer.user.id },
        { id: invite.invite.id },
        { userId: viewer.user.id },
      ])
      clock.now += 31 * day
      expectOk(await accounts.logIn({ email, password, ip: newIp() }))
      expect(await stored()).toEqual([undefined, undefined, undefined])
      expect(await storage.sessions.list(viewer.user.id)).toHaveLength(1)
    })
  })

  describe('a password', () => {
    test('is changed with the old one, which ends all sessions and creates a new one', async () => {
      const { accounts, signUp } = fixture
      const first = await signUp()
      const other = expectOk(await accounts.logIn({ email: first.email, password, ip: newIp() }))
      const link = expectOk(await accounts.operator.resetLink({ id: first.viewer.user.id }))
      const next = 'seven blue herons'
      const change = (current: string, word = next) =>
        accounts.changePassword({ viewer: first.viewer, current, next: word, ip: newIp() })
      expect(await change('wrong password')).toMatchObject({ status: 403, code: 'wrong_password', field: 'current' })
      expect(await change(password, 'short')).toMatchObject({ status: 422, field: 'next' })
      expect(await change(password, password)).toMatchObject({ status: 422, field: 'next' })
      expect(await accounts.authenticate(other.token)).toBeDefined()
      const changed = expectOk(await change(password))
      expect(await accounts.authenticate(first.token)).toBeUndefined()
      expect(await accounts.authenticate(other.token)).toBeUndefined()
      expect(await accounts.authenticate(changed.token)).toEqual(changed.viewer)
      expect(await accounts.logIn({ email: first.email, password, ip: newIp() })).toMatchObject({ status: 401 })
      expectOk(await accounts.logIn({ email: first.email, password: next, ip: newIp() }))
      expect(await accounts.resetPassword({ link: link.text, password, ip: newIp() })).toMatchObject({
        code: 'link_invalid',
      })
    })

    test('of two concurrent changes, one succeeds', async () => {
      const { accounts, signUp } = fixture
      const { viewer } = await signUp()
      const results = await Promise.all(
        ['seven blue herons', 'eight red herons'].map((next) =>
          accounts.changePassword({ viewer, current: password, next, ip: newIp() }),
        ),
      )
      expect(results.map((result) => ('token' in result ? 'changed' : result.code)).sort()).toEqual([
        'changed',
        'wrong_password',
      ])
      expect(await storage.sessions.list(viewer.user.id)).toHaveLength(1)
    })

    test('is required again after 15 minutes, and guesses are throttled', async () => {
      const { accounts, clock, signUp } = fixture
      const { viewer } = await signUp()
      clock.now += 15 * minute - 1
      expect(await accounts.confirm(viewer)).toBe(true)
      clock.now += 1
      expect(await accounts.confirm(viewer)).toMatchObject({ status: 403, code: 'confirm_required', field: 'password' })
      expect(await accounts.confirm(viewer, password)).toBe(true)
      const codes = []
      for (let at = 0; at < 6; at += 1) codes.push(await accounts.confirm(viewer, `guess number ${at}`))
      expect(codes.map((result) => (typeof result === 'object' ? result.code : result))).toEqual([
        ...Array.from({ length: 5 }, () => 'wrong_password'),
        'too_many_tries',
      ])
      expect(await accounts.confirm(viewer, password)).toMatchObject({ status: 429, retryAfterMs: minute })
      clock.now += minute
      expect(await accounts.confirm(viewer, password)).toBe(true)
    })

    test('is set with a one-time link, once, even with ten concurrent requests', async () => {
      const { accounts, clock, signUp } = fixture
      const { viewer, token, email } = await signUp()
      const { id } = viewer.user
      const use = (link: string, word = 'seven blue herons') =>
        accounts.resetPassword({ link, password: word, ip: newIp() })
      const newToken = () => accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null })
      const access = expectOk(await newToken())
      const old = expectOk(await accounts.operator.resetLink({ id }))
      const link = expectOk(await accounts.operator.resetLink({ id }))
      expect(link).toEqual({ text: expect.stringMatching(/^krl_[0-9A-Za-z]{39}$/), expiresAt: clock.now + day })
      expect(await accounts.authenticate(token)).toBeDefined()
      for (const wrong of ['', 'krl_x', old.text]) expect(await use(wrong)).toMatchObject({ code: 'link_invalid' })
      expect(await use(link.text, 'short')).toMatchObject({ status: 422, field: 'password' })
      expect(await use(link.text, email)).toMatchObject({ status: 422, field: 'password' })
      const results = await Promise.all(Array.from({ length: 10 }, () => use(link.text)))
      const [one, ...more] = results.filter((result) => 'token' in result)
      expect(more).toEqual([])
      expect(await accounts.authenticate(token)).toBeUndefined()
      // An attacker's access tokens stop working, and the ended session cannot create new ones.
      expect(await accounts.authenticateToken(access.text)).toBeUndefined()
      expect(await newToken()).toMatchObject({ code: 'session_required' })
      const [last] = await storage.auditLog.list({ userId: id, limit: 1 })
      expect(last).toMatchObject({ action: 'account.resetPassword', detail: { accessTokens: 1 } })
      expect(await accounts.authenticate(expectOk(one).token)).toMatchObject({ user: { id } })
      expectOk(await accounts.logIn({ email, password: 'seven blue herons', ip: newIp() }))
      const ended = expectOk(await accounts.operator.resetLink({ id, validMs: minute }))
      clock.now += minute
      expect(await use(ended.text)).toMatchObject({ status: 404, code: 'link_invalid' })
    })
  })

  describe('an account', () => {
    test('is deleted with its password, and only the audit log remains', async () => {
      const { accounts, changes, signUp } = fixture
      const { viewer, token, email } = await signUp()
      const { id } = viewer.user
      const app = await addApp(storage, { userId: id })
      const apiKey = await addApiKey(storage, { userId: id })
      const access = expectOk(
        await accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null }),
      )
      const link = expectOk(await accounts.operator.resetLink({ id }))
      expect(await accounts.deleteAccount({ viewer, password: 'wrong password' })).toMatchObject({
        code: 'wrong_password',
        field: 'password',
      })
      expect(await accounts.authenticateToken(access.text)).toBeDefined()
      expect(await accounts.deleteAccount({ viewer, password })).toBe(true)
      expect(changes).toEqual([{ kind: 'user', id }])
      expect(await accounts.deleteAccount({ viewer, password })).toMatchObject({ status: 404, code: 'account_deleted' })
      expect(await accounts.authenticate(token)).toBeUndefined()
      expect(await accounts.authenticateToken(access.text)).toBeUndefined()
      expect(await accounts.resetPassword({ link: link.text, password, ip: newIp() })).toMatchObject({
        code: 'link_invalid',
      })
      expect(await accounts.logIn({ email, password, ip: newIp() })).toMatchObject({ code: 'wrong_credentials' })
      expect(await storage.findAccess(app.hash)).toBeUndefined()
      expect(await storage.findAccess(apiKey.hash)).toBeUndefined()
      expect(await listActions(id)).toEqual([
        'account.signUp',
        'token.create',
        'account.resetLink',
        'account.confirmFailed',
        'account.delete',
      ])
      expectOk(await accounts.signUp({ email, password, ip: newIp() }))
    })

    test('is rejected as soon as it is disabled in the database', async () => {
      const { accounts, signUp } = fixture
      const { viewer, token } = await signUp()
      await storage.users.setState(viewer.user.id, 'disabled')
      expect(await accounts.authenticate(token)).toBeUndefined()
      expect(await accounts.deleteAccount({ viewer, password })).toMatchObject({ code: 'account_disabled' })
      expect(
        await accounts.changePassword({ viewer, current: password, next: 'seven blue herons', ip: newIp() }),
      ).toMatchObject({ code: 'account_disabled' })
      await storage.users.setState(viewer.user.id, 'active')
      expect(await accounts.authenticate(token)).toBeDefined()
    })

    test('is rejected as soon as an operator disables it, and its old sessions do not return', async () => {
      const { accounts, changes, signUp } = fixture
      const { viewer, token, email } = await signUp()
      const { id } = viewer.user
      const access = expectOk(
        await accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null }),
      )
      const { hash } = await addApiKey(storage, { userId: id })
      const link = expectOk(await accounts.operator.resetLink({ id }))
      expect(await accounts.operator.setUserState({ id, state: 'disabled' })).toMatchObject({ id, state: 'disabled' })
      expect(changes).toEqual([{ kind: 'user', id }])
      expect(await storage.findAccess(hash)).toMatchObject({ user: { state: 'disabled' } })
      expect(await accounts.authenticate(token)).toBeUndefined()
      expect(await accounts.authenticateToken(access.text)).toBeUndefined()
      expect(await accounts.logIn({ email, password, ip: newIp() })).toMatchObject({
        status: 403,
        code: 'account_disabled',
      })
      const reset = () => accounts.resetPassword({ link: link.text, password, ip: newIp() })
      expect(await reset()).toMatchObject({ code: 'account_disabled' })
      expectOk(await accounts.operator.setUserState({ id, state: 'active' }))
      expect(await accounts.authenticate(token)).toBeUndefined()
      expect(await accounts.authenticateToken(access.text)).toBeDefined()
      expectOk(await reset())
      expect(await listActions(id)).toEqual([
        'account.signUp',
        'token.create',
        'account.resetLink',
        'account.disable',
        'account.logInFailed',
        'account.enable',
        'account.resetPassword',
      ])
    })
  })

  describe('an access token', () => {
    test('authenticates its account until it expires or is removed', async () => {
      const { accounts, clock, signUp } = fixture
      const { viewer } = await signUp()
      const make = (expiresAt: number | null) =>
        accounts.createAccessToken({ viewer, label: ' ci ', scopes: ['read', 'apps:write'], expiresAt })
      const lasting = expectOk(await make(null))
      const short = expectOk(await make(clock.now + 1_000))
      expect(lasting.text).toMatch(/^krp_[0-9A-Za-z]{39}$/)
      expect(lasting.accessToken).toMatchObject({ label: 'ci', scopes: ['read', 'apps:write'], seenAt: null })
      expect(await accounts.authenticateToken(lasting.text)).toEqual({
        user: viewer.user,
        scopes: ['read', 'apps:write'],
        tokenId: lasting.accessToken.id,
      })
      expect(await accounts.authenticateToken(short.text)).toBeDefined()
      clock.now += 1_000
      expect(await accounts.authenticateToken(short.text)).toBeUndefined()
      expect(await accounts.authenticateToken(`${lasting.text.slice(0, -1)}!`)).toBeUndefined()
      const listed = await accounts.listAccessTokens(viewer)
      expect(listed.map(({ id }) => id).sort()).toEqual([lasting.accessToken.id, short.accessToken.id].sort())
      expect(listed.every(({ seenAt }) => seenAt === clock.now - 1_000)).toBe(true)
      const other = await signUp()
      expect(await accounts.removeAccessToken({ viewer: other.viewer, id: lasting.accessToken.id })).toBe(false)
      expect(await accounts.removeAccessToken({ viewer, id: lasting.accessToken.id })).toBe(true)
      expect(await accounts.authenticateToken(lasting.text)).toBeUndefined()
    })

    test('records its use at most once per minute', async () => {
      const { accounts, clock, signUp } = fixture
      const { viewer } = await signUp()
      const { text } = expectOk(
        await accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null }),
      )
      const seen = []
      for (const wait of [0, minute - 1, 1]) {
        clock.now += wait
        await accounts.authenticateToken(text)
        seen.push((await accounts.listAccessTokens(viewer))[0]?.seenAt)
      }
      expect(seen).toEqual([clock.now - minute, clock.now - minute, clock.now])
    })

    test('cannot create other tokens or do what needs a session', async () => {
      const { accounts, signUp } = fixture
      const { viewer, token } = await signUp()
      const created = expectOk(
        await accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null }),
      )
      const asToken = expectOk(await accounts.authenticateToken(created.text))
      const rejected = { status: 403, code: 'session_required' }
      const tried = [
        accounts.createAccessToken({ viewer: asToken, label: 'x', scopes: ['read'], expiresAt: null }),
        accounts.confirm(asToken, password),
        accounts.changePassword({ viewer: asToken, current: password, next: 'seven blue herons', ip: newIp() }),
        accounts.deleteAccount({ viewer: asToken, password }),
      ]
      for (const result of tried) expect(await result).toMatchObject(rejected)
      expect(await accounts.authenticate(created.text)).toBeUndefined()
      expect(await accounts.authenticateToken(token)).toBeUndefined()
    })

    test('is rejected with an invalid label, scope or expiry, and above 20, even with concurrent requests', async () => {
      const { accounts, clock, signUp } = fixture
      const { viewer } = await signUp()
      const make = (given: { label?: string; scopes?: string[]; expiresAt?: number | null }) =>
        accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null, ...given })
      for (const label of ['', '  ', 'x'.repeat(65), 'a\u0000b', 'a\nb'])
        expect(await make({ label })).toMatchObject({ field: 'label' })
      for (const scopes of [[], ['read', 'read'], ['a b'], ['']])
        expect(await make({ scopes })).toMatchObject({ status: 422, field: 'scopes' })
      for (const expiresAt of [clock.now, 1.5, NaN, -1])
        expect(await make({ expiresAt })).toMatchObject({ status: 422, field: 'expiresAt' })
      const results = await Promise.all(Array.from({ length: 22 }, () => make({ label: '\u{1F511}'.repeat(64) })))
      expect(results.filter((result) => 'text' in result)).toHaveLength(20)
      expect(results.filter((result) => 'code' in result && result.code === 'tokens_full')).toHaveLength(2)
    })
  })

  describe('an operator', () => {
    test('adds, finds, lists and searches accounts, without their hashes', async () => {
      const { operator } = fixture.accounts
      const email = `100%_Sure-${newEmail()}`
      const added = expectOk(await operator.addUser({ email, password, role: 'operator' }))
      expect(added).toMatchObject({ email, role: 'operator', state: 'active' })
      expect(await operator.addUser({ email, password })).toMatchObject({ code: 'email_taken' })
      expect(await operator.addUser({ email: 'x', password })).toMatchObject({ code: 'email_invalid' })
      expect(await operator.addUser({ email: newEmail(), password: 'short' })).toMatchObject({
        code: 'password_invalid',
      })
      expect(await operator.findUser({ email: email.toLowerCase() })).toEqual(added)
      expect(await operator.findUser({ id: added.id })).toEqual(added)
      expect(await operator.findUser({ id: 'usr_none' })).toBeUndefined()
      expect(await operator.listUsers({ email: '100%_SURE', limit: 5 })).toEqual([added])
      // Not a pattern: `_` and `%` are literal.
      expect(await operator.listUsers({ email: '100%__ure', limit: 5 })).toEqual([])
      const page = await operator.listUsers({ limit: 2 })
      expect(page).toHaveLength(2)
      expect(JSON.stringify(page)).not.toContain('argon2')
      expectOk(await fixture.accounts.logIn({ email, password, ip: newIp() }))
    })

    test('sets limits, and gets an error for invalid ones', async () => {
      const { accounts, changes, signUp } = fixture
      const { id } = (await signUp()).viewer.user
      const { operator } = accounts
      const set = (limits: object | null) => operator.setUserLimits({ id, limits, actor: 'usr_op', ip: '::1' })
      for (const [limits, field] of [
        [{ perDay: -1 }, 'limits.perDay'],
        [{ perSecond: 0 }, 'limits.perSecond'],
        [{ burst: null }, 'limits.burst'],
        [{ perMonth: 1.5 }, 'limits.perMonth'],
        [{ perHour: 1 }, 'limits'],
        [{ __proto__: null, toString: 1 }, 'limits'],
      ] as const)
        expect(await set(limits)).toMatchObject({ status: 422, code: 'limits_invalid', field })
      expect(changes).toEqual([])
      expect(await set({ perDay: null, burst: 5 })).toMatchObject({ limits: { perDay: null, burst: 5 } })
      expect(changes).toEqual([{ kind: 'user', id }])
      expect(await set(null)).toMatchObject({ limits: null })
      expect(await storage.auditLog.list({ userId: id, limit: 2 })).toMatchObject([
        { actor: 'usr_op', ip: '::1', action: 'account.limits', detail: { limits: null } },
        { detail: { limits: { perDay: null, burst: 5 } } },
      ])
      expect(await operator.setUserLimits({ id: 'usr_none', limits: null })).toMatchObject({ code: 'account_deleted' })
    })

    test('makes operators, and gets errors for unknown accounts and invalid lifetimes', async () => {
      const { accounts, signUp } = fixture
      const { id } = (await signUp()).viewer.user
      const { operator } = accounts
      expect(await operator.setUserRole({ id, role: 'operator' })).toMatchObject({ role: 'operator' })
      const none = { status: 404, code: 'account_deleted' }
      expect(await operator.setUserRole({ id: 'usr_none', role: 'operator' })).toMatchObject(none)
      expect(await operator.setUserState({ id: 'usr_none', state: 'disabled' })).toMatchObject(none)
      expect(await operator.resetLink({ id: 'usr_none' })).toMatchObject(none)
      for (const validMs of [0, -1, 1.5, Infinity, 367 * day]) {
        expect(await operator.resetLink({ id, validMs })).toMatchObject({ status: 422, field: 'validMs' })
        expect(await operator.inviteUser({ validMs })).toMatchObject({ status: 422, field: 'validMs' })
      }
      const { email } = await signUp()
      expect(await operator.inviteUser({ email })).toMatchObject({ code: 'email_taken' })
      expect(await operator.inviteUser({ email: 'x' })).toMatchObject({ code: 'email_invalid' })
    })

    test('is authenticated by a token of at least 32 characters', () => {
      const operatorToken = 'o'.repeat(32)
      const { accounts } = createFixture(storage, { operatorToken })
      expect(accounts.isOperatorToken(operatorToken)).toBe(true)
      for (const wrong of ['', 'o'.repeat(31), 'o'.repeat(33), operatorToken.toUpperCase()])
        expect(accounts.isOperatorToken(wrong)).toBe(false)
      expect(fixture.accounts.isOperatorToken('')).toBe(false)
      expect(() => createFixture(storage, { operatorToken: 'short' })).toThrow('at least 32 characters')
    })
  })
})
