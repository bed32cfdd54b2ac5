import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type {
  AccessTokenView,
  AuditEntryView,
  ControlApi,
  OverviewView,
  SessionView,
  UserView,
} from '../../src/control/contract/controlApi.d.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import { expectOk } from '../account/accountFixture.ts'
import { factorKinds } from '../account/factorKinds.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { startControl } from './startControl.ts'
import type { Login, StartedControl } from './startControl.ts'
import { withFactor } from './withFactor.ts'
import {
  createAppBody,
  expectBody,
  expectError,
  readCookie,
  createToken,
  createFixture,
  newEmail,
  password,
  signUp,
  signUpOperator,
} from './accountFixture.ts'

const minute = 60_000
const day = 86_400_000

describe.each(suiteDatabases)('access control on $name', (database) => {
  let started: StartedControl
  let control: StartedControl
  beforeAll(async () => {
    started = await startControl(database)
    control = started
  })
  afterAll(async () => {
    await started.close()
    await database.stop()
  })

  describe.each(factorKinds)('accounts with %s', (factor) => {
    beforeAll(() => {
      control = withFactor(started, factor)
    })
    afterAll(() => {
      control = started
    })

    test('sign up, log out and log in with an HttpOnly cookie', async () => {
      const email = newEmail()
      const created = await control.call('POST /api/account', { body: { email: ` ${email} `, password } })
      expect(created.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^keyrail-session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/),
      ])
      const session = expectBody<SessionView>(created, 201)
      expect(session).toMatchObject({ account: { email, role: 'user' }, scopes: null })
      expect(Date.parse(session.session?.confirmedUntil ?? '')).toBe(control.clock.now + 15 * minute)
      expect(Date.parse(session.session?.expiresAt ?? '')).toBe(control.clock.now + 7 * day)
      const as = { cookie: readCookie(created) }
      expect(expectBody<SessionView>(await control.call('GET /api/session', { as })).account.email).toBe(email)
      const out = await control.call('DELETE /api/session', { as })
      expect(out.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^keyrail-session=; .*Expires=Thu, 01 Jan 1970/),
      ])
      const lost = await control.call('GET /api/session', { as })
      expect(expectError(lost, 401).code).toBe('not_logged_in')
      expect(lost.headers.getSetCookie()).toHaveLength(1)
      const again = await control.call('POST /api/session', { body: { email: email.toUpperCase(), password } })
      expect(expectBody<SessionView>(again).account.email).toBe(email)
      expect(readCookie(again)).not.toBe(as.cookie)
      // Logging in again in the same browser ends the old session.
      const before = { cookie: readCookie(again) }
      const second = await control.call('POST /api/session', { as: before, body: { email, password } })
      expect((await control.call('GET /api/session', { as: { cookie: readCookie(second) } })).status).toBe(200)
      expect((await control.call('GET /api/session', { as: before })).status).toBe(401)
    })

    test('return the same error for an unknown email address and a wrong password', async () => {
      const { email } = await signUp(control)
      const errors = await Promise.all(
        [email, newEmail()].map(async (one) =>
          expectError(await control.call('POST /api/session', { body: { email: one, password: 'not this one' } }), 401),
        ),
      )
      const [one, other] = errors.map((error) => ({ ...error, requestId: '' }))
      expect(one).toEqual(other)
      expect(one?.code).toBe('wrong_credentials')
    })

    test('changing the password ends the other sessions, and deletion needs the password', async () => {
      const { email, as, id } = await signUp(control)
      const other = { cookie: readCookie(await control.call('POST /api/session', { body: { email, password } })) }
      const next = 'a longer one than that'
      const wrong = await control.call('POST /api/account/password', { as, body: { current: 'no', next } })
      expect(expectError(wrong, 403).fields?.[0]?.field).toBe('current')
      const changed = await control.call('POST /api/account/password', { as, body: { current: password, next } })
      const now = { cookie: readCookie(changed) }
      expect(changed.status).toBe(200)
      for (const ended of [as, other]) expect((await control.call('GET /api/session', { as: ended })).status).toBe(401)
      expect((await control.call('GET /api/session', { as: now })).status).toBe(200)
      expect((await control.call('POST /api/account/delete', { as: now, body: { password } })).status).toBe(403)
      expect((await control.call('POST /api/account/delete', { as: now, body: { password: next } })).status).toBe(204)
      expect((await control.call('GET /api/session', { as: now })).status).toBe(401)
      expect(await control.storage.users.find(id)).toBeUndefined()
    })

    test('changing the password removes the access tokens', async () => {
      const user = await signUp(control)
      const token = await createToken(control, user, ['read'])
      expect((await control.call('GET /api/account', { as: token })).status).toBe(200)
      const body = { current: password, next: 'a longer one than that' }
      const changed = await control.call('POST /api/account/password', { as: user.as, body })
      expect((await control.call('GET /api/account', { as: token })).status).toBe(401)
      expect((await control.storage.auditLog.list({ userId: user.id, limit: 1 }))[0]).toMatchObject({
        action: 'account.changePassword',
        detail: { accessTokens: 1 },
      })
      // The session of the change can create new ones.
      expect((await control.call('GET /api/tokens', { as: { cookie: readCookie(changed) } })).body).toEqual({
        items: [],
      })
    })

    test('a log-in link of keyrail dev works once, within 15 minutes, and then says how to get a new one', async () => {
      const { id } = await signUp(control)
      const use = (link: string, as?: Login) =>
        control.call('POST /api/session/link', { body: { link }, ...(as === undefined ? {} : { as }) })
      const link = control.accounts.createLogInLink(id)
      const first = await use(link)
      expect(expectBody<SessionView>(first).account.id).toBe(id)
      const as = { cookie: readCookie(first) }
      expect((await control.call('GET /api/session', { as })).status).toBe(200)
      const second = await use(link)
      expect(expectError(second, 404)).toMatchObject({
        code: 'link_invalid',
        message: expect.stringMatching(
          /was used or has expired.*Log in with .* password, or restart the program that printed the link/,
        ),
      })
      expect(second.text).not.toContain(link)
      // Another link ends the session that the browser has.
      expect((await use(control.accounts.createLogInLink(id), as)).status).toBe(200)
      expect((await control.call('GET /api/session', { as })).status).toBe(401)
      const late = control.accounts.createLogInLink(id)
      control.clock.now += 15 * 60_000
      expect(expectError(await use(late), 404).code).toBe('link_invalid')
    })

    test('a log-in link logs in once, however many requests race for it, and not to a disabled account', async () => {
      const { id } = await signUp(control)
      const link = control.accounts.createLogInLink(id)
      const all = await Promise.all([1, 2, 3].map(() => control.call('POST /api/session/link', { body: { link } })))
      expect(all.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 404, 404])
      const unused = control.accounts.createLogInLink(id)
      await control.accounts.operator.setUserState({ id, state: 'disabled' })
      const rejected = await control.call('POST /api/session/link', { body: { link: unused } })
      expect(expectError(rejected, 403).code).toBe('account_disabled')
      await control.accounts.operator.setUserState({ id, state: 'active' })
      expectBody(await control.call('POST /api/session/link', { body: { link: unused } }))
    })

    test('after a reset, a connected identity is listed and can be disconnected', async () => {
      const { id } = await signUp(control)
      const identity = { issuer: 'https://id.example.org', subject: `of ${id}` }
      await control.storage.identities.add({ ...identity, userId: id, now: control.clock.now })
      const { text: link } = expectOk(await control.accounts.operator.resetLink({ id }))
      const reset = await control.call('POST /api/account/password/reset', { body: { link, password } })
      const as = { cookie: readCookie(reset) }
      expect((await control.call('GET /api/account/identities', { as })).body).toEqual({
        items: [{ issuer: identity.issuer, connectedAt: new Date(control.clock.now).toISOString() }],
      })
      const disconnect = () =>
        control.call('POST /api/account/identities/disconnect', { as, body: { issuer: identity.issuer } })
      expect((await disconnect()).status).toBe(204)
      expect(await control.storage.identities.find(identity)).toBeUndefined()
      expect((await disconnect()).status).toBe(404)
      // An old session needs the password, or the factor.
      control.clock.now += 16 * 60_000
      expect(expectError(await disconnect(), 403).code).toBe(
        factor === 'no factor' ? 'confirm_required' : 'second_factor_confirm_required',
      )
    })

    test('sign-up is invite-only or closed if so configured', async () => {
      const body = () => ({ email: newEmail(), password })
      control.config.signUp = 'closed'
      expect(expectError(await control.call('POST /api/account', { body: body() }), 403).code).toBe('sign_up_closed')
      control.config.signUp = 'invite'
      expect(expectError(await control.call('POST /api/account', { body: body() }), 403).code).toBe('invite_required')
      const { as } = await createOperator()
      const { url } = expectBody<{ url: string }>(await control.call('POST /api/admin/invites', { as, body: {} }), 201)
      const [page, invite = ''] = url.split('#')
      expect(page).toBe(`${control.url}/sign-up`)
      expect((await control.call('POST /api/account', { body: { ...body(), invite } })).status).toBe(201)
      expect(expectError(await control.call('POST /api/account', { body: { ...body(), invite } }), 403).code).toBe(
        'invite_invalid',
      )
      control.config.signUp = 'open'
    })
  })

  const createOperator = async () => {
    const before = control.config.signUp
    control.config.signUp = 'open'
    const operator = await signUpOperator(control)
    control.config.signUp = before
    return operator
  }

  describe('access tokens', () => {
    test('are created in a session only, shown once, and work within their scopes until they expire or are removed', async () => {
      const user = await signUp(control)
      const { as } = user
      const body = {
        label: 'ci',
        scopes: ['read'],
        expiresAt: new Date(control.clock.now + day).toISOString(),
      } as const
      const created = await control.call('POST /api/tokens', { as, body })
      const { token, accessToken } = expectBody<{ token: string; accessToken: AccessTokenView }>(created, 201)
      expect(token).toMatch(/^krp_[0-9A-Za-z]{39}$/)
      const bearer = { bearer: token }
      expect(expectBody<SessionView>(await control.call('GET /api/session', { as: bearer }))).toMatchObject({
        account: { id: user.id },
        session: null,
        scopes: ['read'],
      })
      expect(
        expectError(await control.call('POST /api/apps', { as: bearer, body: createAppBody() }), 403),
      ).toMatchObject({
        code: 'forbidden',
        message: 'This access token does not have the scope apps:write. Create a token that has it.',
      })
      const listed = await control.call('GET /api/tokens', { as })
      expect(expectBody<{ items: AccessTokenView[] }>(listed).items).toEqual([
        { ...accessToken, seenAt: new Date(control.clock.now).toISOString() },
      ])
      expect(listed.text).not.toContain(token)
      // The header takes precedence over a cookie.
      const both = { cookie: 'cookie' in as ? as.cookie : '' }
      expect((await control.call('POST /api/apps', { as: bearer, headers: both, body: createAppBody() })).status).toBe(
        403,
      )
      expect((await control.call('GET /api/apps', { as: { bearer: 'x' }, headers: both })).status).toBe(401)
      control.clock.now += day
      expect((await control.call('GET /api/session', { as: bearer })).status).toBe(401)
      control.clock.now -= day
      const params = { tokenId: accessToken.id }
      expect((await control.call('DELETE /api/tokens/{tokenId}', { as, params })).status).toBe(204)
      expect((await control.call('DELETE /api/tokens/{tokenId}', { as, params })).status).toBe(404)
      expect((await control.call('GET /api/session', { as: bearer })).status).toBe(401)
    })

    test('need the password if the session is older than 15 minutes', async () => {
      const { as } = await signUp(control)
      const body = { label: 'ci', scopes: ['read'], expiresAt: null } as const
      control.clock.now += 16 * minute
      expect(expectError(await control.call('POST /api/tokens', { as, body }), 403).code).toBe('confirm_required')
      expect((await control.call('POST /api/tokens', { as, body: { ...body, password } })).status).toBe(201)
      for (const [change, field] of [
        [{ scopes: [] }, 'scopes'],
        [{ scopes: ['keys:reveal'] }, 'scopes[0]'],
        [{ scopes: ['read', 'read'] }, 'scopes'],
        [{ label: ' ' }, 'label'],
        [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
        [{ expiresAt: 5 }, 'expiresAt'],
      ] as const) {
        const sent = { ...body, password, ...change } as unknown as typeof body
        expect(expectError(await control.call('POST /api/tokens', { as, body: sent }), 422).fields?.[0]?.field).toBe(
          field,
        )
      }
    })

    test('are the actor of their changes in the audit log', async () => {
      const user = await signUp(control)
      const token = await createToken(control, user, ['apps:write', 'read'])
      expectBody(await control.call('POST /api/apps', { as: token, body: createAppBody('By script') }), 201)
      const { items } = expectBody<{ items: AuditEntryView[] }>(await control.call('GET /api/audit-log', { as: token }))
      expect(items[0]).toMatchObject({
        action: 'app.create',
        actor: token.id,
        userId: user.id,
        detail: { name: 'By script' },
      })
    })
  })

  describe('the audit log', () => {
    test('is paginated, newest first, and limited to the account', async () => {
      const { user } = await createFixture(control)
      const { as } = user
      const actions: string[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) }
        const page = expectBody<{ items: AuditEntryView[]; next: string | null }>(
          await control.call('GET /api/audit-log', { as, query }),
        )
        expect(page.items.every(({ userId }) => userId === user.id)).toBe(true)
        actions.push(...page.items.map(({ action }) => action))
        cursor = page.next
      }
      expect(actions.toReversed()).toEqual([
        'account.signUp',
        'app.create',
        'key.create',
        'allowList.add',
        'jwtKey.add',
        'token.create',
        'token.create',
        'account.resetLink',
        'webhook.create',
      ])
      expect((await control.call('GET /api/audit-log', { as, query: { cursor: 'x' } })).status).toBe(422)
    })

    test('is filtered by action, group of actions and time', async () => {
      const user = await signUp(control)
      const { as } = user
      const list = async (query: ControlApi['GET /api/audit-log']['query']): Promise<readonly string[]> => {
        const page = await control.call('GET /api/audit-log', { as, query })
        return expectBody<{ items: AuditEntryView[] }>(page).items.map(({ action }) => action)
      }
      expectBody(await control.call('POST /api/apps', { as, body: createAppBody('One') }), 201)
      control.clock.now += 60_000
      const later = new Date(control.clock.now).toISOString()
      await createToken(control, user, ['read'])
      expect(await list({ action: 'app' })).toEqual(['app.create'])
      expect(await list({ action: 'app.create' })).toEqual(['app.create'])
      // Neither a part of a name nor a wildcard.
      expect(await list({ action: 'ap' })).toEqual([])
      expect((await control.call('GET /api/audit-log', { as, query: { action: '%' } })).status).toBe(422)
      expect(await list({ from: later })).toEqual(['token.create'])
      expect(await list({ to: later })).toEqual(['app.create', 'account.signUp'])
      expect(await list({ from: later, action: 'app' })).toEqual([])
    })

    test('names who changed what, and is filtered by both', async () => {
      const [user, operator] = [await signUp(control), await signUpOperator(control)]
      const token = await createToken(control, user, ['apps:write', 'read'])
      const created = await control.call('POST /api/apps', { as: token, body: createAppBody('Shop') })
      const { app } = expectBody<{ app: { id: string } }>(created, 201)
      const list = async (query: ControlApi['GET /api/admin/audit-log']['query']): Promise<readonly AuditEntryView[]> =>
        expectBody<{ items: AuditEntryView[] }>(
          await control.call('GET /api/admin/audit-log', { as: operator.as, query }),
        ).items
      const [appId, { email }] = [app.id, user]
      const limits = { params: { userId: user.id }, body: { limits: { perDay: 5 } } }
      expectBody(await control.call('PUT /api/admin/users/{userId}/limits', { as: operator.as, ...limits }))
      expect(await list({ subject: appId })).toMatchObject([
        { action: 'app.create', actor: token.id, actorName: 'ci', subjectName: 'Shop', userEmail: email },
      ])
      expect(await list({ actor: operator.id, userId: user.id })).toMatchObject([
        { action: 'account.limits', actorName: operator.email, subjectName: email, userEmail: email },
      ])
      expect(await list({ actor: 'nobody', subject: appId })).toEqual([])
      // Deleted records have no name.
      const removed = { id: appId, userId: user.id, now: control.clock.now }
      expect(await control.storage.apps.remove(removed)).toBe(true)
      expect((await list({ subject: appId })).map(({ subjectName }) => subjectName)).toEqual([null])
    })

    test('names no other account to its owner', async () => {
      const [user, operator] = [await signUp(control), await signUpOperator(control)]
      const limits = { params: { userId: user.id }, body: { limits: { perDay: 5 } } }
      expectBody(await control.call('PUT /api/admin/users/{userId}/limits', { as: operator.as, ...limits }))
      const { items } = expectBody<{ items: AuditEntryView[] }>(
        await control.call('GET /api/audit-log', { as: user.as, query: { actor: operator.id } }),
      )
      expect(items).toMatchObject([{ action: 'account.limits', actorName: null, userEmail: user.email }])
      expect(JSON.stringify(items)).not.toContain(operator.email)
    })

    test('is a CSV file of the account, or of all accounts for operators', async () => {
      const [user, other, operator] = [await signUp(control), await signUp(control), await signUpOperator(control)]
      // A name that a spreadsheet would run.
      expectBody(await control.call('POST /api/apps', { as: user.as, body: createAppBody('=1+1') }), 201)
      const own = await control.call('GET /api/audit-log.csv', { as: user.as, query: { action: 'app' } })
      expect(own.headers.get('content-disposition')).toBe('attachment; filename="keyrail-audit-log.csv"')
      const [header, row, ...more] = own.text.split('\r\n')
      expect(header).toBe('at,userId,actor,action,subject,ip,detail,userEmail,actorName,subjectName')
      expect(row).toMatch(
        new RegExp(`^[\\d:.TZ-]+,${user.id},${user.id},app\\.create,app_\\w+,[\\d.]+,"\\{""name"":""=1`),
      )
      expect(more).toEqual([''])
      const all = async (query: ControlApi['GET /api/admin/audit-log.csv']['query']): Promise<string> =>
        (await control.call('GET /api/admin/audit-log.csv', { as: operator.as, query })).text
      expect(await all({})).toContain(other.id)
      expect(await all({ userId: user.id })).not.toContain(other.id)
    })
  })

  describe.each(factorKinds)('operators with %s', (factor) => {
    beforeAll(() => {
      control = withFactor(started, factor)
    })
    afterAll(() => {
      control = started
    })

    test('disable an account with its sessions, tokens and keys immediately', async () => {
      const { user, token, appKey, apiKey } = await createFixture(control)
      const { as } = await createOperator()
      const params = { userId: user.id }
      const states = async () =>
        Promise.all([appKey, apiKey].map(async (key) => (await control.keys.find(hashApiKey(key)))?.status))
      expect(await states()).toEqual(['active', 'active'])
      const disabled = await control.call('POST /api/admin/users/{userId}/disable', { as, params, body: {} })
      expect(expectBody<UserView>(disabled)).toMatchObject({
        state: 'disabled',
        apps: 1,
        apiKeys: 1,
        email: user.email,
      })
      expect(await states()).toEqual(['disabled', 'disabled'])
      expect((await control.call('GET /api/session', { as: user.as })).status).toBe(401)
      expect((await control.call('GET /api/session', { as: token })).status).toBe(401)
      const logIn = () => control.call('POST /api/session', { body: { email: user.email, password } })
      expect(expectError(await logIn(), 403).code).toBe('account_disabled')
      expect((await control.call('POST /api/admin/users/{userId}/enable', { as, params, body: {} })).status).toBe(200)
      expect(await states()).toEqual(['active', 'active'])
      expect((await logIn()).status).toBe(200)
    })

    test('cannot disable themselves', async () => {
      const { as, id } = await createOperator()
      const rejected = await control.call('POST /api/admin/users/{userId}/disable', {
        as,
        params: { userId: id },
        body: {},
      })
      expect(expectError(rejected, 409).code).toBe('in_use')
    })

    test('search accounts by email address, with pagination', async () => {
      const { as } = await createOperator()
      const part = newEmail().slice(4, 14)
      for (let index = 0; index < 5; index += 1)
        await control.call('POST /api/account', { body: { email: `${part}-${index}@example.org`, password } })
      const emails: string[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const query = { limit: 2, search: part.toUpperCase(), ...(cursor === undefined ? {} : { cursor }) }
        const page = expectBody<{ items: UserView[]; next: string | null }>(
          await control.call('GET /api/admin/users', { as, query }),
        )
        emails.push(...page.items.map(({ email }) => email))
        cursor = page.next
      }
      expect(emails.toSorted()).toEqual(Array.from({ length: 5 }, (_, index) => `${part}-${index}@example.org`))
    })

    test('create a one-time link for a new password, and set limits', async () => {
      const user = await signUp(control)
      const { as } = await createOperator()
      const params = { userId: user.id }
      const { url } = expectBody<{ url: string }>(
        await control.call('POST /api/admin/users/{userId}/reset-link', { as, params, body: {} }),
        201,
      )
      const [page, link = ''] = url.split('#')
      expect(page).toBe(`${control.url}/reset-password`)
      const reset = () =>
        control.call('POST /api/account/password/reset', { body: { link, password: 'quite another one' } })
      const done = await reset()
      expect(expectBody<SessionView>(done).account.id).toBe(user.id)
      expect((await control.call('GET /api/session', { as: { cookie: readCookie(done) } })).status).toBe(200)
      expect((await control.call('GET /api/session', { as: user.as })).status).toBe(401)
      expect(expectError(await reset(), 404).code).toBe('link_invalid')
      const limits = { perDay: 5, perSecond: null, burst: 10 }
      const set = await control.call('PUT /api/admin/users/{userId}/limits', { as, params, body: { limits } })
      expect(expectBody<UserView>(set).limits).toEqual(limits)
      const usage = await control.call('GET /api/usage', { as: { cookie: readCookie(done) } })
      expect(expectBody(usage)).toMatchObject({
        day: { used: 7, limit: 5, remaining: 0 },
        limits: { perDay: 5, perSecond: null, burst: 10, perMonth: null },
      })
      const bad = await control.call('PUT /api/admin/users/{userId}/limits', {
        as,
        params,
        body: { limits: { perDay: -1, burst: 0 } },
      })
      expect(expectError(bad, 422).fields?.map(({ field }) => field)).toEqual(['limits.perDay', 'limits.burst'])
    })

    test('see totals and the audit log of the whole service', async () => {
      const { as, id } = await createOperator()
      const overview = expectBody<OverviewView>(await control.call('GET /api/admin/overview', { as }))
      expect(overview.users).toBe(await control.storage.users.count())
      expect(overview.degraded).toEqual([])
      const token = { bearer: control.operatorToken }
      expectBody(await control.call('POST /api/admin/invites', { as: token, body: { email: newEmail() } }), 201)
      expectBody(await control.call('POST /api/admin/invites', { as, body: {} }), 201)
      const { items } = expectBody<{ items: AuditEntryView[] }>(
        await control.call('GET /api/admin/audit-log', { as: token, query: { limit: 2 } }),
      )
      expect(items.map(({ actor, action }) => [actor, action])).toEqual([
        [id, 'invite.create'],
        ['operator', 'invite.create'],
      ])
    })
  })
})
