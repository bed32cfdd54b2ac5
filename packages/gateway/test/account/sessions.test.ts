import { beforeEach, describe, expect, test } from 'vitest'
import { hashArgon2 } from '../../src/control/account/argon2id.ts'
import { hashSecret } from '../../src/control/account/secretText.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { addApiKey, addApp } from '../storage/fill.ts'
import { cheap, newEmail, newIp, expectOk, password } from './accountFixture.ts'
import type { AccountFixture } from './accountFixture.ts'
import { createFactorFixture } from './factorFixture.ts'
import { databasesAndFactors } from './factorKinds.ts'
import { useStorage } from '../storage/useStorage.ts'

const minute = 60_000
const day = 86_400_000

describe.each(databasesAndFactors)('sessions on $name', ({ database, factor }) => {
  let storage: Storage
  let fixture: AccountFixture
  useStorage(database, (opened) => (storage = opened))
  const createFixture = (from: Storage): AccountFixture => createFactorFixture(factor, from)
  beforeEach(() => {
    fixture = createFixture(storage)
  })

  /** The error of a log-in while the password changes. With a factor, the second step finds out. */
  const overtaken = factor === 'no factor' ? 'wrong_credentials' : 'log_in_expired'
  // Without what a factor adds.
  const listActions = async (userId: string): Promise<readonly string[]> =>
    (await storage.auditLog.list({ userId, limit: 50 }))
      .map(({ action }) => action)
      .filter((action) => action !== 'factor.add' && action !== 'account.logInPending')
      .toReversed()

  test('a user has at most 100 sessions: a log-in ends the oldest', async () => {
    const { signUp } = fixture
    const { user } = (await signUp()).viewer
    const before = await storage.sessions.list(user.id)
    for (let i = 0; i < 101; i++)
      await storage.sessions.create({ hash: hashSecret(`session ${i}`), userId: user.id, now: 4e12 + i })
    const left = await storage.sessions.list(user.id)
    expect(left).toHaveLength(100)
    expect(left.at(-1)?.createdAt).toBe(4e12 + 1)
    expect(before.every(({ hash }) => left.every((one) => one.hash !== hash))).toBe(true)
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
      expect(await accounts.logIn({ email, password, ip: newIp() })).toMatchObject({ code: overtaken })
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
      expect(await accounts.logIn({ email, password, ip: newIp() })).toMatchObject({ code: overtaken })
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

    test('is listed without its secret, until it expires', async () => {
      const { accounts, clock, signUp } = fixture
      const first = await signUp()
      const ip = newIp()
      const second = expectOk(await accounts.logIn({ email: first.email, password, ip, userAgent: 'Firefox' }))
      const otherUser = await signUp()
      const [own, other, ...more] = await accounts.listSessions(second.viewer)
      const { createdAt = 0 } = second.viewer.session ?? {}
      expect(own).toMatchObject({ current: true, createdAt, seenAt: createdAt, expiresAt: createdAt + 7 * day, ip })
      expect(other).toMatchObject({ current: false, ip: first.viewer.session?.ip })
      expect(more).toEqual([])
      const shown = JSON.stringify([own, other])
      for (const { token } of [first, second]) {
        expect(shown).not.toContain(token)
        expect(shown).not.toContain(hashSecret(token).slice(0, 20))
      }
      expect(await accounts.listSessions(otherUser.viewer)).toHaveLength(1)
      clock.now = createdAt + 6 * day
      await accounts.authenticate(first.token)
      clock.now = createdAt + 7 * day
      expect(await accounts.listSessions(first.viewer)).toMatchObject([
        { id: other?.id, current: true, seenAt: createdAt + 6 * day, expiresAt: createdAt + 13 * day },
      ])
    })

    test('can be ended in another session of the user only', async () => {
      const { accounts, signUp } = fixture
      const { email, viewer, token } = await signUp()
      const logIn = async () => expectOk(await accounts.logIn({ email, password, ip: newIp() }))
      const [second, third] = [await logIn(), await logIn()]
      const otherUser = await signUp()
      const [own] = await accounts.listSessions(second.viewer)
      const id = own?.id ?? ''
      expect(await accounts.endSession({ viewer: otherUser.viewer, id })).toBe(false)
      expect(await accounts.authenticate(second.token)).toBeDefined()
      expect(await accounts.endSession({ viewer, id, ip: '192.0.2.1' })).toBe(true)
      expect(await accounts.endSession({ viewer, id })).toBe(false)
      expect(await accounts.authenticate(second.token)).toBeUndefined()
      await accounts.endOtherSessions({ viewer })
      await accounts.endOtherSessions({ viewer })
      expect(await accounts.authenticate(third.token)).toBeUndefined()
      for (const open of [token, otherUser.token]) expect(await accounts.authenticate(open)).toBeDefined()
      const logged = await storage.auditLog.list({ userId: viewer.user.id, limit: 2 })
      expect(logged).toMatchObject([
        { action: 'account.endSessions', detail: { sessions: 1 } },
        { action: 'account.endSession', subject: id, ip: '192.0.2.1' },
      ])
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
      const [last] = await storage.auditLog.list({ userId: id, action: 'account.resetPassword', limit: 1 })
      expect(last).toMatchObject({ detail: { accessTokens: 1 } })
      // A reset keeps the factor.
      const { user } = expectOk(await accounts.authenticate(expectOk(one).token))
      expect(user).toMatchObject({ id, hasSecondFactor: factor !== 'no factor' })
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
        // The second step.
        ...(factor === 'no factor' ? [] : ['account.logIn']),
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
        accountId: viewer.user.id,
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
})
