import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hashArgon2 } from '../../src/control/account/argon2id.ts'
import { createPasswords } from '../../src/control/account/createPasswords.ts'
import { hashSecret } from '../../src/control/account/secretText.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { databases } from '../storage/databases.ts'
import { addApiKey, addApp } from '../storage/fill.ts'
import { cheap, createFixture, newIp, newMail, passed, password } from './accountFixture.ts'
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

  const actionsOf = async (userId: string): Promise<readonly string[]> =>
    (await storage.auditLog.list({ userId, limit: 50 })).map(({ action }) => action).reverse()

  describe('sign-up', () => {
    test('makes an account and logs in', async () => {
      const { accounts, clock } = fixture
      const email = newMail()
      const { viewer, token, expiresAt } = passed(
        await accounts.signUp({ email: ` ${email} `, password, ip: '192.0.2.1', userAgent: 'Firefox' }),
      )
      expect(viewer.user).toEqual({
        id: expect.stringMatching(/^usr_/),
        email,
        state: 'active',
        role: 'user',
        limits: null,
        createdAt: clock.now,
      })
      expect(viewer.session).toMatchObject({ userId: viewer.user.id, ip: '192.0.2.1', userAgent: 'Firefox' })
      expect(expiresAt).toBe(clock.now + 30 * day)
      expect(await accounts.authenticate(token)).toEqual(viewer)
      expect(await actionsOf(viewer.user.id)).toEqual(['account.signUp'])
    })

    test('rejects a email address that is taken, whatever its case, and what is none', async () => {
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

    test('by ten at once with one email address makes one account', async () => {
      const { accounts } = fixture
      const email = newMail()
      const results = await Promise.all(
        Array.from({ length: 10 }, () => accounts.signUp({ email, password, ip: newIp() })),
      )
      expect(results.filter((result) => 'token' in result)).toHaveLength(1)
      expect(results.filter((result) => 'code' in result && result.code === 'email_taken')).toHaveLength(9)
    })

    test('rejects a password that will do nobody good, and names the field', async () => {
      const { accounts } = fixture
      expect(await accounts.signUp({ email: newMail(), password: 'Password123!', ip: newIp() })).toEqual({
        status: 422,
        code: 'password_invalid',
        message: 'the password is one of those that are tried first: take a longer one, such as four words',
        field: 'password',
      })
    })

    test('is rejected to everybody where it is closed', async () => {
      const { accounts, mode, signUp } = fixture
      const { email } = await signUp()
      const { text } = passed(await accounts.operator.inviteUser({}))
      mode.signUp = 'closed'
      for (const who of [email, newMail()])
        expect(await accounts.signUp({ email: who, password, invite: text, ip: newIp() })).toMatchObject({
          status: 403,
          code: 'sign_up_closed',
        })
      expect(await accounts.operator.inviteUser({})).toMatchObject({ status: 409, code: 'sign_up_closed' })
    })

    test('that found all places taken costs no try', async () => {
      const passwords = createPasswords({ cost: cheap })
      let full = true
      const { accounts } = createFixture(storage, {
        signUpBurst: 1,
        passwords: { ...passwords, hash: async (word) => (full ? 'busy' : passwords.hash(word)) },
      })
      const ip = newIp()
      const signUp = () => accounts.signUp({ email: newMail(), password, ip })
      expect([await signUp(), await signUp()]).toMatchObject([{ code: 'busy' }, { code: 'busy' }])
      full = false
      passed(await signUp())
      expect(await signUp()).toMatchObject({ code: 'too_many_tries' })
    })

    test('is slowed by address, and by /64 of IPv6', async () => {
      const { accounts } = createFixture(storage, { signUpBurst: 3 })
      const from = (ip: string) => accounts.signUp({ email: newMail(), password, ip })
      for (const end of [1, 2, 3]) passed(await from(`2001:db8:7:7::${end}`))
      expect(await from('2001:db8:7:7:ffff::9')).toMatchObject({
        status: 429,
        code: 'too_many_tries',
        retryAfterMs: minute,
      })
      passed(await from('2001:db8:7:8::1'))
    })
  })

  describe('an invite', () => {
    test('lets one account in, once, also when ten ask at once', async () => {
      const { accounts, mode } = fixture
      mode.signUp = 'invite'
      const { text, invite } = passed(await accounts.operator.inviteUser({}))
      expect(text).toMatch(/^kri_[0-9A-Za-z]{39}$/)
      const results = await Promise.all(
        Array.from({ length: 10 }, () => accounts.signUp({ email: newMail(), password, invite: text, ip: newIp() })),
      )
      const [one, ...more] = results.filter((result) => 'token' in result)
      expect(more).toEqual([])
      expect(results.filter((result) => 'code' in result && result.code === 'invite_invalid')).toHaveLength(9)
      const { user } = passed(one).viewer
      expect(await storage.auditLog.list({ userId: user.id, limit: 1 })).toMatchObject([
        { action: 'account.signUp', detail: { invite: invite.id } },
      ])
    })

    test('is asked for before anything is told of email addresses', async () => {
      const { accounts, mode, signUp } = fixture
      const { email } = await signUp()
      mode.signUp = 'invite'
      const answers = []
      for (const who of [email, newMail()])
        for (const invite of [undefined, '', 'kri_', 'x'.repeat(43)])
          answers.push(await accounts.signUp({ email: who, password, invite, ip: newIp() }))
      expect(answers.slice(0, 4)).toEqual(answers.slice(4))
      expect(answers.slice(0, 4)).toMatchObject([
        { status: 403, code: 'invite_required' },
        { status: 403, code: 'invite_required' },
        { status: 403, code: 'invite_invalid' },
        { status: 403, code: 'invite_invalid' },
      ])
    })

    test('ends, can be taken back, and may be for one email address alone', async () => {
      const { accounts, mode, clock } = fixture
      mode.signUp = 'invite'
      const { operator } = accounts
      const use = (invite: string, email = newMail()) => accounts.signUp({ email, password, invite, ip: newIp() })
      const short = passed(await operator.inviteUser({ validMs: 1_000 }))
      const back = passed(await operator.inviteUser({}))
      const email = newMail()
      const bound = passed(await operator.inviteUser({ email }))
      const listed = async () => (await operator.listInvites({ limit: 100 })).map(({ id }) => id)
      expect(await listed()).toEqual(expect.arrayContaining([short.invite.id, back.invite.id, bound.invite.id]))
      expect(await operator.removeInvite({ id: back.invite.id })).toBe(true)
      expect(await operator.removeInvite({ id: back.invite.id })).toBe(false)
      clock.now += 1_000
      expect(await listed()).not.toContain(short.invite.id)
      for (const rejected of [use(short.text), use(back.text), use(bound.text)])
        expect(await rejected).toMatchObject({ code: 'invite_invalid' })
      passed(await use(bound.text, email.toUpperCase()))
    })

    test('is not used up by a email address that is taken', async () => {
      const { accounts, mode, signUp } = fixture
      const { email } = await signUp()
      mode.signUp = 'invite'
      const { text } = passed(await accounts.operator.inviteUser({}))
      const use = (who: string) => accounts.signUp({ email: who, password, invite: text, ip: newIp() })
      expect(await use(email)).toMatchObject({ code: 'email_taken' })
      passed(await use(newMail()))
    })
  })

  describe('log-in', () => {
    test('rotates: a new session, and the one that the browser had ends', async () => {
      const { accounts, signUp } = fixture
      const first = await signUp()
      const other = passed(await accounts.logIn({ email: first.email, password, ip: newIp() }))
      const second = passed(
        await accounts.logIn({ email: first.email.toUpperCase(), password, current: first.token, ip: newIp() }),
      )
      expect(new Set([first.token, other.token, second.token]).size).toBe(3)
      expect(await accounts.authenticate(first.token)).toBeUndefined()
      expect(await accounts.authenticate(other.token)).toBeDefined()
      expect(await accounts.authenticate(second.token)).toEqual(second.viewer)
    })

    test('is the same password from a keyboard that writes its letters in parts', async () => {
      const { accounts } = fixture
      const email = newMail()
      passed(await accounts.signUp({ email, password: 'caf\u00e9 brul\u00e9 12', ip: newIp() }))
      expect(await accounts.logIn({ email, password: 'cafe\u0301 brule\u0301 12', ip: newIp() })).toHaveProperty(
        'token',
      )
    })

    test('answers and works the same for a wrong password and a email address that nobody has', async () => {
      const { accounts, signUp, hashes } = fixture
      const { email, viewer } = await signUp()
      const tryOf = async (who: string, word = 'wrong password') => {
        hashes.length = 0
        const answer = await accounts.logIn({ email: who, password: word, ip: newIp() })
        return { answer, hashes: [...hashes] }
      }
      const [wrong, unknown] = [await tryOf(email), await tryOf(newMail())]
      expect(wrong).toEqual(unknown)
      expect(wrong).toEqual({
        answer: { status: 401, code: 'wrong_credentials', message: 'the email address or the password is wrong' },
        hashes: [cheap],
      })
      const long = 'x'.repeat(2_000)
      expect(await tryOf(email, long)).toEqual(await tryOf(newMail(), long))
      const disabled = await signUp()
      passed(await accounts.operator.setUserState({ id: disabled.viewer.user.id, state: 'disabled' }))
      expect(await tryOf(disabled.email)).toEqual(unknown)
      expect(await actionsOf(viewer.user.id)).toEqual(['account.signUp', 'account.logInFailed'])
    })

    test('hashes anew where the hash costs less than one costs today', async () => {
      const { accounts, signUp } = fixture
      const { email, viewer } = await signUp()
      const { id } = viewer.user
      const weak = await hashArgon2(password, { cost: { memory: 8, passes: 1, parallelism: 1 } })
      await storage.users.setPassword(id, weak)
      expect(await accounts.logIn({ email, password: 'wrong password', ip: newIp() })).toMatchObject({ status: 401 })
      expect((await storage.users.find(id))?.password).toBe(weak)
      passed(await accounts.logIn({ email, password, ip: newIp() }))
      const strong = (await storage.users.find(id))?.password
      expect(strong).toContain('$m=64,t=1,p=1$')
      passed(await accounts.logIn({ email, password, ip: newIp() }))
      expect((await storage.users.find(id))?.password).toBe(strong)
    })

    test('that hashes anew does not bring back a password that was changed meanwhile', async () => {
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

    test.each<[what: string, (id: string) => Promise<unknown>]>([
      [
        'the password was changed',
        async (id) => storage.users.setPassword(id, await hashArgon2('seven blue herons', { cost: cheap })),
      ],
      ['the account was disabled', (id) => storage.users.setState(id, 'disabled')],
      ['the account was deleted', (id) => storage.users.remove(id)],
    ])('that began before %s does not outlive it', async (_what, happen) => {
      const { email, viewer } = await fixture.signUp()
      const { id } = viewer.user
      // It happens once the password was found right.
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
    test('ends 7 days after its last use, and 30 days after its beginning', async () => {
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

    test('notes its use at most once a minute', async () => {
      const { accounts, clock, signUp } = fixture
      const { token, viewer } = await signUp()
      const seenAt = async () => (await storage.sessions.list(viewer.user.id))[0]?.seenAt
      const begun = clock.now
      clock.now += minute - 1
      await accounts.authenticate(token)
      expect(await seenAt()).toBe(begun)
      clock.now += 1
      expect(await accounts.authenticate(token)).toMatchObject({ session: { seenAt: begun + minute } })
      expect(await seenAt()).toBe(begun + minute)
    })

    test('ends at log-out, once, and only by its token', async () => {
      const { accounts, signUp } = fixture
      const { token, viewer } = await signUp()
      await accounts.logOut(`${token.slice(1)}A`)
      await accounts.logOut('none')
      expect(await accounts.authenticate(token)).toBeDefined()
      await accounts.logOut(token, { ip: '192.0.2.1' })
      await accounts.logOut(token)
      expect(await accounts.authenticate(token)).toBeUndefined()
      expect(await actionsOf(viewer.user.id)).toEqual(['account.signUp', 'account.logOut'])
    })

    test('is stored as a hash alone, and what has ended is swept away', async () => {
      const { accounts, clock, signUp } = fixture
      const { token, viewer, email } = await signUp()
      const invite = passed(await accounts.operator.inviteUser({}))
      const link = passed(await accounts.operator.resetLink({ id: viewer.user.id }))
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
      passed(await accounts.logIn({ email, password, ip: newIp() }))
      expect(await stored()).toEqual([undefined, undefined, undefined])
      expect(await storage.sessions.list(viewer.user.id)).toHaveLength(1)
    })
  })

  describe('a password', () => {
    test('is changed with the old one: all sessions end, a new one begins', async () => {
      const { accounts, signUp } = fixture
      const first = await signUp()
      const other = passed(await accounts.logIn({ email: first.email, password, ip: newIp() }))
      const link = passed(await accounts.operator.resetLink({ id: first.viewer.user.id }))
      const next = 'seven blue herons'
      const change = (current: string, word = next) =>
        accounts.changePassword({ viewer: first.viewer, current, next: word, ip: newIp() })
      expect(await change('wrong password')).toMatchObject({ status: 403, code: 'wrong_password', field: 'current' })
      expect(await change(password, 'short')).toMatchObject({ status: 422, field: 'next' })
      expect(await change(password, password)).toMatchObject({ status: 422, field: 'next' })
      expect(await accounts.authenticate(other.token)).toBeDefined()
      const changed = passed(await change(password))
      expect(await accounts.authenticate(first.token)).toBeUndefined()
      expect(await accounts.authenticate(other.token)).toBeUndefined()
      expect(await accounts.authenticate(changed.token)).toEqual(changed.viewer)
      expect(await accounts.logIn({ email: first.email, password, ip: newIp() })).toMatchObject({ status: 401 })
      passed(await accounts.logIn({ email: first.email, password: next, ip: newIp() }))
      expect(await accounts.resetPassword({ link: link.text, password, ip: newIp() })).toMatchObject({
        code: 'link_invalid',
      })
    })

    test('changed twice at once is changed once', async () => {
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

    test('is asked for again once a session is 15 minutes old, and guesses at it are slowed', async () => {
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

    test('is set by a one-time link, once, also when ten use it at once', async () => {
      const { accounts, clock, signUp } = fixture
      const { viewer, token, email } = await signUp()
      const { id } = viewer.user
      const use = (link: string, word = 'seven blue herons') =>
        accounts.resetPassword({ link, password: word, ip: newIp() })
      const newToken = () => accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null })
      const access = passed(await newToken())
      const old = passed(await accounts.operator.resetLink({ id }))
      const link = passed(await accounts.operator.resetLink({ id }))
      expect(link).toEqual({ text: expect.stringMatching(/^krl_[0-9A-Za-z]{39}$/), expiresAt: clock.now + day })
      expect(await accounts.authenticate(token)).toBeDefined()
      for (const wrong of ['', 'krl_x', old.text]) expect(await use(wrong)).toMatchObject({ code: 'link_invalid' })
      expect(await use(link.text, 'short')).toMatchObject({ status: 422, field: 'password' })
      expect(await use(link.text, email)).toMatchObject({ status: 422, field: 'password' })
      const results = await Promise.all(Array.from({ length: 10 }, () => use(link.text)))
      const [one, ...more] = results.filter((result) => 'token' in result)
      expect(more).toEqual([])
      expect(await accounts.authenticate(token)).toBeUndefined()
      // Whoever had the account before keeps nothing of it, nor can make it with a session that has ended.
      expect(await accounts.authenticateToken(access.text)).toBeUndefined()
      expect(await newToken()).toMatchObject({ code: 'session_required' })
      const [last] = await storage.auditLog.list({ userId: id, limit: 1 })
      expect(last).toMatchObject({ action: 'account.resetPassword', detail: { accessTokens: 1 } })
      expect(await accounts.authenticate(passed(one).token)).toMatchObject({ user: { id } })
      passed(await accounts.logIn({ email, password: 'seven blue herons', ip: newIp() }))
      const ended = passed(await accounts.operator.resetLink({ id, validMs: minute }))
      clock.now += minute
      expect(await use(ended.text)).toMatchObject({ status: 404, code: 'link_invalid' })
    })
  })

  describe('an account', () => {
    test('is deleted with its password, and nothing of it stays but the audit log', async () => {
      const { accounts, changes, signUp } = fixture
      const { viewer, token, email } = await signUp()
      const { id } = viewer.user
      const app = await addApp(storage, { userId: id })
      const apiKey = await addApiKey(storage, { userId: id })
      const access = passed(
        await accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null }),
      )
      const link = passed(await accounts.operator.resetLink({ id }))
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
      expect(await actionsOf(id)).toEqual([
        'account.signUp',
        'token.create',
        'account.resetLink',
        'account.confirmFailed',
        'account.delete',
      ])
      passed(await accounts.signUp({ email, password, ip: newIp() }))
    })

    test('that is disabled is out, whoever wrote so', async () => {
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

    test('that is disabled is out at once, and its old sessions stay ended', async () => {
      const { accounts, changes, signUp } = fixture
      const { viewer, token, email } = await signUp()
      const { id } = viewer.user
      const access = passed(
        await accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null }),
      )
      const { hash } = await addApiKey(storage, { userId: id })
      const link = passed(await accounts.operator.resetLink({ id }))
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
      passed(await accounts.operator.setUserState({ id, state: 'active' }))
      expect(await accounts.authenticate(token)).toBeUndefined()
      expect(await accounts.authenticateToken(access.text)).toBeDefined()
      passed(await reset())
      expect(await actionsOf(id)).toEqual([
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
    test('stands for its account until it ends or is removed', async () => {
      const { accounts, clock, signUp } = fixture
      const { viewer } = await signUp()
      const make = (expiresAt: number | null) =>
        accounts.createAccessToken({ viewer, label: ' ci ', scopes: ['read', 'apps:write'], expiresAt })
      const lasting = passed(await make(null))
      const short = passed(await make(clock.now + 1_000))
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

    test('notes its use at most once a minute', async () => {
      const { accounts, clock, signUp } = fixture
      const { viewer } = await signUp()
      const { text } = passed(
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

    test('cannot make others, nor do what needs a person', async () => {
      const { accounts, signUp } = fixture
      const { viewer, token } = await signUp()
      const made = passed(await accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null }))
      const asToken = passed(await accounts.authenticateToken(made.text))
      const rejected = { status: 403, code: 'session_required' }
      const tried = [
        accounts.createAccessToken({ viewer: asToken, label: 'x', scopes: ['read'], expiresAt: null }),
        accounts.confirm(asToken, password),
        accounts.changePassword({ viewer: asToken, current: password, next: 'seven blue herons', ip: newIp() }),
        accounts.deleteAccount({ viewer: asToken, password }),
      ]
      for (const result of tried) expect(await result).toMatchObject(rejected)
      expect(await accounts.authenticate(made.text)).toBeUndefined()
      expect(await accounts.authenticateToken(token)).toBeUndefined()
    })

    test('is rejected with a wrong label, scope or end, and past the twentieth, also when made at once', async () => {
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
      const email = `100%_Sure-${newMail()}`
      const added = passed(await operator.addUser({ email, password, role: 'operator' }))
      expect(added).toMatchObject({ email, role: 'operator', state: 'active' })
      expect(await operator.addUser({ email, password })).toMatchObject({ code: 'email_taken' })
      expect(await operator.addUser({ email: 'x', password })).toMatchObject({ code: 'email_invalid' })
      expect(await operator.addUser({ email: newMail(), password: 'short' })).toMatchObject({
        code: 'password_invalid',
      })
      expect(await operator.findUser({ email: email.toLowerCase() })).toEqual(added)
      expect(await operator.findUser({ id: added.id })).toEqual(added)
      expect(await operator.findUser({ id: 'usr_none' })).toBeUndefined()
      expect(await operator.listUsers({ email: '100%_SURE', limit: 5 })).toEqual([added])
      // Not a pattern: `_` and `%` stand for themselves.
      expect(await operator.listUsers({ email: '100%__ure', limit: 5 })).toEqual([])
      const page = await operator.listUsers({ limit: 2 })
      expect(page).toHaveLength(2)
      expect(JSON.stringify(page)).not.toContain('argon2')
      passed(await fixture.accounts.logIn({ email, password, ip: newIp() }))
    })

    test('sets limits, and is told what is wrong with them', async () => {
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

    test('makes operators, and is rejected what is not there or lasts too long', async () => {
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

    test('is known by a token of at least 32 characters', () => {
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
