import { beforeEach, describe, expect, test } from 'vitest'
import { createPasswordHasher } from '../../src/control/account/createPasswordHasher.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { cheap, createFixture, newIp, newEmail, expectOk, password } from './accountFixture.ts'
import type { AccountFixture } from './accountFixture.ts'
import { useStorage } from '../storage/useStorage.ts'

const minute = 60_000
const day = 86_400_000

describe.each(suiteDatabases)('accounts on $name', (database) => {
  let storage: Storage
  let fixture: AccountFixture
  useStorage(database, (opened) => (storage = opened))
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

  test('the password is required again after 15 minutes, and guesses are throttled', async () => {
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
