import { describe, expect, test } from 'vitest'
import type {
  ActingAccountView,
  AppView,
  AuditEntryView,
  MemberView,
  SessionView,
  TeamView,
  TokenScope,
} from '../../src/control/contract/controlApi.d.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import { startOfUtcDay } from '../../src/lib/utcDay.ts'
import type { MemberRole } from '../../src/storage/tables.ts'
import { databases } from '../storage/databases.ts'
import {
  addMember,
  createAppBody,
  createToken,
  expectBody,
  expectError,
  newEmail,
  password,
  signUp,
  signUpOperator,
} from './accountFixture.ts'
import type { TestUser } from './accountFixture.ts'
import type { StartedControl, TestResponse } from './startControl.ts'
import { useControl } from './useControl.ts'

const day = 86_400_000

const countStatuses = (responses: readonly TestResponse[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe.each(databases)('teams on $name', (database) => {
  let control: StartedControl
  useControl(database, (started) => (control = started))

  const createTeam = async (owner: TestUser, name = 'Acme'): Promise<TestUser> => {
    const { id } = expectBody<ActingAccountView>(
      await control.call('POST /api/accounts', { as: owner.as, body: { name } }),
      201,
    )
    return { ...owner, as: { ...owner.as, account: id } }
  }
  const getId = ({ as }: TestUser): string => as.account ?? ''

  const join = async (team: TestUser, role: MemberRole): Promise<TestUser> => {
    const user = await signUp(control)
    // Members are listed in the order in which they joined.
    control.clock.now += 1
    await addMember(control, getId(team), { id: user.id, role })
    return { ...user, as: { ...user.as, account: getId(team) } }
  }

  const invite = async (team: TestUser, email: string, role: MemberRole = 'developer'): Promise<string> => {
    const created = await control.call('POST /api/members/invites', { as: team.as, body: { email, role } })
    const { url } = expectBody<{ url: string }>(created, 201)
    const [page, secret = ''] = url.split('#')
    expect(page).toBe(`${control.url}/join`)
    return secret
  }
  const accept = ({ as }: TestUser, secret: string): Promise<TestResponse> =>
    control.call('POST /api/accounts/join', { as, body: { invite: secret } })

  const createApp = async ({ as }: TestUser): Promise<{ app: AppView; apiKey: string }> =>
    expectBody(await control.call('POST /api/apps', { as, body: createAppBody() }), 201)
  const createKey = ({ as }: TestUser): Promise<TestResponse> =>
    control.call('POST /api/keys', { as, body: { name: 'k', network: 'testnet' } })
  const setRole = (team: TestUser, userId: string, role: MemberRole): Promise<TestResponse> =>
    control.call('PUT /api/members/{userId}/role', { as: team.as, params: { userId }, body: { role } })
  const remove = (team: TestUser, userId: string): Promise<TestResponse> =>
    control.call('POST /api/members/{userId}/remove', { as: team.as, params: { userId }, body: {} })
  const leave = ({ as }: TestUser): Promise<TestResponse> => control.call('POST /api/team/leave', { as, body: {} })
  const listAudit = async ({ as }: TestUser): Promise<readonly AuditEntryView[]> =>
    expectBody<{ items: AuditEntryView[] }>(await control.call('GET /api/audit-log', { as })).items

  test('a user has a personal account with the id of the user, and sees each team with the role there', async () => {
    const owner = await signUp(control)
    const team = await createTeam(owner)
    const list = async (user: TestUser) =>
      expectBody<{ items: ActingAccountView[] }>(await control.call('GET /api/accounts', { as: user.as })).items
    expect(await list(owner)).toMatchObject([
      { id: owner.id, kind: 'personal', name: owner.email, role: 'owner' },
      { id: getId(team), kind: 'team', name: 'Acme', role: 'owner' },
    ])
    const viewer = await join(team, 'viewer')
    expect((await list(viewer)).map(({ id, role }) => [id, role])).toEqual([
      [viewer.id, 'owner'],
      [getId(team), 'viewer'],
    ])
    // A token belongs to one account.
    expect(await list({ ...viewer, as: await createToken(control, viewer, ['read']) })).toMatchObject([
      { id: getId(team), role: 'viewer' },
    ])
    const session = expectBody<SessionView>(await control.call('GET /api/session', { as: viewer.as }))
    expect(session).toMatchObject({ account: { id: viewer.id }, actingFor: { id: getId(team), role: 'viewer' } })
    const { items } = expectBody<{ items: MemberView[] }>(await control.call('GET /api/members', { as: viewer.as }))
    expect(items.map(({ email, role }) => [email, role])).toEqual([
      [owner.email, 'owner'],
      [viewer.email, 'viewer'],
    ])
    const own = expectBody<{ items: MemberView[] }>(
      await control.call('GET /api/members', { as: { ...viewer.as, account: viewer.id } }),
    )
    expect(own.items).toMatchObject([{ userId: viewer.id, role: 'owner' }])
  })

  test('what members create belongs to the team, and its audit log names who acted', async () => {
    const owner = await signUp(control)
    const team = await createTeam(owner)
    const developer = await join(team, 'developer')
    const { app } = await createApp(developer)
    const token = await createToken(control, developer, ['apps:write'])
    await control.call('PATCH /api/apps/{appId}', {
      as: token,
      params: { appId: app.id },
      body: { version: app.version, description: 'by a token' },
    })
    expect((await control.call('GET /api/apps/{appId}', { as: team.as, params: { appId: app.id } })).status).toBe(200)
    const personal = { ...developer.as, account: developer.id }
    expect((await control.call('GET /api/apps/{appId}', { as: personal, params: { appId: app.id } })).status).toBe(404)
    const entries = await listAudit(team)
    expect(entries.map(({ action, actorName, userEmail }) => [action, actorName, userEmail])).toEqual([
      ['app.edit', `ci (${developer.email})`, 'Acme'],
      ['token.create', developer.email, 'Acme'],
      ['app.create', developer.email, 'Acme'],
      ['team.create', owner.email, 'Acme'],
    ])
    // Operators who are no members stay unnamed.
    const operator = await signUpOperator(control)
    await control.call('PUT /api/admin/accounts/{accountId}/limits', {
      as: operator.as,
      params: { accountId: getId(team) },
      body: { limits: { perDay: 7 } },
    })
    expect((await listAudit(team))[0]).toMatchObject({ action: 'account.limits', actorName: null })
  })

  test('nobody can log in as a team, and it is not listed as a user', async () => {
    const owner = await signUp(control)
    const id = getId(await createTeam(owner))
    for (const email of [id, 'Acme', `${id}@`])
      expect((await control.call('POST /api/session', { body: { email, password } })).status).toBe(401)
    expect(await control.storage.users.findByEmail(id)).toBeUndefined()
    // Operators cannot give it a password either.
    expect(await control.accounts.operator.findUser({ id })).toBeUndefined()
    for (const changed of [
      await control.accounts.operator.resetLink({ id }),
      await control.accounts.operator.setUserRole({ id, role: 'operator' }),
      await control.accounts.operator.setUserLimits({ id, limits: null }),
    ])
      expect(changed).toMatchObject({ code: 'account_deleted' })
    const users = await control.storage.users.list({ limit: 1_000 })
    expect(users.some((user) => user.id === owner.id)).toBe(true)
    expect(users.some((user) => user.id === id)).toBe(false)
    expect(await control.storage.users.count()).toBe(users.length)
    const name = await control.call('POST /api/accounts', { as: owner.as, body: { name: owner.email } })
    expect(expectError(name, 422).fields).toEqual([{ field: 'name', fix: 'must not contain @' }])
  })

  describe('invites', () => {
    test('work once, for the user with the email address, until they expire', async () => {
      const team = await createTeam(await signUp(control))
      const user = await signUp(control)
      const other = await signUp(control)
      const secret = await invite(team, user.email.toUpperCase(), 'viewer')
      expect(expectError(await accept(other, secret), 404).code).toBe('invite_invalid')
      expect(expectBody<ActingAccountView>(await accept(user, secret))).toMatchObject({
        id: getId(team),
        role: 'viewer',
      })
      expect(expectError(await accept(user, secret), 404).code).toBe('invite_invalid')
      const again = await control.call('POST /api/members/invites', {
        as: team.as,
        body: { email: user.email, role: 'viewer' },
      })
      expect(expectError(again, 409).code).toBe('already_member')
      const late = await invite(team, other.email)
      control.clock.now += 7 * day
      expect(expectError(await accept(await logIn(other), late), 404).code).toBe('invite_invalid')
      expect(expectError(await accept(await logIn(other), 'krm_nothing'), 404).code).toBe('invite_invalid')
    })

    test('need a confirmed email address if the service sends email', async () => {
      const team = await createTeam(await signUp(control))
      const user = await signUp(control)
      const secret = await invite(team, user.email)
      control.inbox.isOn = true
      const rejected = await accept(user, secret)
      await control.storage.users.setVerifiedEmail(user.id, user.email, control.clock.now)
      const accepted = await accept(user, secret)
      control.inbox.isOn = false
      expect(expectError(rejected, 403).code).toBe('email_unverified')
      expect(accepted.status).toBe(200)
    })

    test('two requests that use one at once add one member', async () => {
      const team = await createTeam(await signUp(control))
      const user = await signUp(control)
      const secret = await invite(team, user.email)
      const results = await Promise.all(Array.from({ length: 4 }, () => accept(user, secret)))
      expect(countStatuses(results)).toEqual({ 200: 1, 404: 3 })
      expect(await control.storage.members.list(getId(team))).toHaveLength(2)
    })

    test('end with the role of the member who created them', async () => {
      const team = await createTeam(await signUp(control))
      const admin = await join(team, 'admin')
      const [first, second] = [await signUp(control), await signUp(control)]
      const one = await invite(admin, first.email, 'admin')
      expect((await setRole(team, admin.id, 'developer')).status).toBe(204)
      expect((await accept(first, one)).status).toBe(404)
      expect((await setRole(team, admin.id, 'admin')).status).toBe(204)
      const other = await invite(admin, second.email, 'admin')
      expect((await remove(team, admin.id)).status).toBe(204)
      expect((await accept(second, other)).status).toBe(404)
    })

    test('to a member end when the member joins, and when the member is removed', async () => {
      const team = await createTeam(await signUp(control))
      const user = await signUp(control)
      const [first, second] = [await invite(team, user.email, 'admin'), await invite(team, user.email.toUpperCase())]
      expect((await accept(user, second)).status).toBe(200)
      expect((await remove(team, user.id)).status).toBe(204)
      expect(expectError(await accept(user, first), 404).code).toBe('invite_invalid')
      // Of a member who came without it.
      const third = await invite(team, user.email)
      await addMember(control, getId(team), { id: user.id, role: 'viewer' })
      expect((await remove(team, user.id)).status).toBe(204)
      expect(expectError(await accept(user, third), 404).code).toBe('invite_invalid')
    })

    test('of an owner end when the owner gets another role', async () => {
      const team = await createTeam(await signUp(control))
      const owner = await join(team, 'owner')
      const [first, second] = [await signUp(control), await signUp(control)]
      const taken = await invite(owner, first.email, 'owner')
      expect((await setRole(team, owner.id, 'admin')).status).toBe(204)
      expect(expectError(await accept(first, taken), 404).code).toBe('invite_invalid')
      const left = await invite(owner, second.email, 'admin')
      expect((await setRole(team, owner.id, 'owner')).status).toBe(204)
      expect((await accept(second, left)).status).toBe(200)
    })

    test('of owners can be revoked by owners only', async () => {
      const team = await createTeam(await signUp(control))
      const admin = await join(team, 'admin')
      const user = await signUp(control)
      await invite(team, user.email, 'owner')
      const [created] = await control.storage.members.listInvites({ accountId: getId(team), now: control.clock.now })
      const params = { inviteId: created?.id ?? '' }
      for (const as of [admin.as, await createToken(control, team, ['members'])]) {
        const rejected = await control.call('DELETE /api/members/invites/{inviteId}', { as, params })
        expect(expectError(rejected, 403).code).toBe('role_required')
      }
      expect((await control.call('DELETE /api/members/invites/{inviteId}', { as: team.as, params })).status).toBe(204)
    })

    test('are sent by email', async () => {
      const team = await createTeam(await signUp(control))
      const body = { email: newEmail(), role: 'viewer' as const, send: true }
      const off = await control.call('POST /api/members/invites', { as: team.as, body })
      expect(expectError(off, 409).code).toBe('mail_disabled')
      control.inbox.isOn = true
      expect((await control.call('POST /api/members/invites', { as: team.as, body })).status).toBe(201)
      await control.inbox.waitUntilSent()
      control.inbox.isOn = false
      const [email] = control.inbox.emails.slice(-1)
      expect(email?.to).toBe(body.email)
      expect(email?.subject).toContain('Acme')
      expect(email?.text).toMatch(/\/join#krm_\w{39}/)
    })

    test('that are sent are limited by the user too, at any IP address', async () => {
      const team = await createTeam(await signUp(control))
      const send = () =>
        control.call('POST /api/members/invites', {
          as: team.as,
          body: { email: newEmail(), role: 'viewer', send: true },
        })
      control.inbox.isOn = true
      const results = await Promise.all(Array.from({ length: 12 }, send))
      await control.inbox.waitUntilSent()
      control.inbox.isOn = false
      expect(countStatuses(results)).toEqual({ 201: 10, 429: 2 })
    })

    test('that are sent at once are limited like those that are sent in turn', async () => {
      const team = await createTeam(await signUp(control))
      const admin = await join(team, 'admin')
      const email = newEmail()
      const send = ({ as }: TestUser, role: MemberRole) =>
        control.call('POST /api/members/invites', { as, body: { email, role, send: true } })
      control.inbox.isOn = true
      // Rejected ones don't count.
      for (let count = 0; count < 5; count += 1) expect((await send(admin, 'owner')).status).toBe(403)
      const results = await Promise.all(Array.from({ length: 9 }, () => send(team, 'viewer')))
      await control.inbox.waitUntilSent()
      control.inbox.isOn = false
      expect(countStatuses(results)).toEqual({ 201: 3, 429: 6 })
    })
  })

  const logIn = async (user: TestUser): Promise<TestUser> => {
    const { headers } = await control.call('POST /api/session', { body: { email: user.email, password } })
    const [cookie = ''] = headers.getSetCookie()
    return { ...user, as: { ...user.as, cookie: cookie.split(';', 1)[0] ?? '' } }
  }

  describe('owners', () => {
    test('only owners can make, change and remove owners, and no access token can', async () => {
      const owner = await signUp(control)
      const team = await createTeam(owner)
      const [admin, developer] = [await join(team, 'admin'), await join(team, 'developer')]
      for (const by of [
        admin,
        { ...owner, as: await createToken(control, team, ['members']) },
        { ...admin, as: await createToken(control, admin, ['members']) },
      ]) {
        expect(expectError(await setRole(by, developer.id, 'owner'), 403).code).toBe('role_required')
        expect(expectError(await setRole(by, owner.id, 'viewer'), 403).code).toBe('role_required')
        expect(expectError(await remove(by, owner.id), 403).code).toBe('role_required')
        const invited = await control.call('POST /api/members/invites', {
          as: by.as,
          body: { email: newEmail(), role: 'owner' },
        })
        expect(expectError(invited, 403).code).toBe('role_required')
      }
      expect((await setRole(team, developer.id, 'owner')).status).toBe(204)
      expect((await setRole(admin, developer.id, 'viewer')).status).toBe(403)
    })

    test('an access token can only give the role viewer, because others can reveal keys', async () => {
      const team = await createTeam(await signUp(control))
      const [developer, viewer] = [await join(team, 'developer'), await join(team, 'viewer')]
      const by = { ...team, as: await createToken(control, team, ['members']) }
      const send = (role: MemberRole) =>
        control.call('POST /api/members/invites', { as: by.as, body: { email: newEmail(), role } })
      for (const role of ['admin', 'developer'] as const) {
        expect(expectError(await send(role), 403).code).toBe('session_required')
        expect(expectError(await setRole(by, viewer.id, role), 403).code).toBe('session_required')
      }
      expect((await send('viewer')).status).toBe(201)
      expect((await setRole(by, developer.id, 'viewer')).status).toBe(204)
      expect((await setRole(by, developer.id, 'developer')).status).toBe(403)
    })

    test('the last one cannot leave, cannot lose the role, and cannot delete the own account', async () => {
      const owner = await signUp(control)
      const team = await createTeam(owner)
      const other = await join(team, 'admin')
      const deletion = () => control.call('POST /api/account/delete', { as: owner.as, body: { password } })
      for (const rejected of [await leave(team), await setRole(team, owner.id, 'admin'), await remove(team, owner.id)])
        expect(expectError(rejected, 409).code).toBe('last_owner')
      const failed = expectError(await deletion(), 409)
      expect(failed.code).toBe('last_owner')
      expect(failed.message).toContain('Acme')
      expect((await setRole(team, other.id, 'owner')).status).toBe(204)
      // The other owner has not agreed to share limits.
      for (const rejected of [await deletion(), await leave(team), await remove(team, owner.id)]) {
        const { code, message } = expectError(rejected, 409)
        expect(code).toBe('shares_limits')
        expect(message).toContain('Acme')
      }
      expect((await remove(other, owner.id)).status).toBe(204)
      expect((await deletion()).status).toBe(204)
      expect(await control.storage.members.list(getId(team))).toMatchObject([{ userId: other.id, role: 'owner' }])
      expect((await listAudit(other))[0]).toMatchObject({
        action: 'member.remove',
        detail: { email: owner.email, limitsOf: other.id },
      })
      expect(await control.storage.teams.find(getId(team))).toMatchObject({ createdBy: other.id, sharesLimits: true })
    })

    test('of two owners who leave at once, one stays', async () => {
      for (let round = 0; round < 5; round += 1) {
        const team = await createTeam(await signUp(control))
        const other = await join(team, 'owner')
        const results = await Promise.all([leave(team), leave(other)])
        expect(countStatuses(results)).toEqual({ 204: 1, 409: 1 })
        const another = await join(await createTeam(await signUp(control)), 'owner')
        const [first] = await control.storage.members.list(getId(another))
        const both = await Promise.all([
          remove(another, first?.userId ?? ''),
          control.call('POST /api/account/delete', { as: another.as, body: { password } }),
        ])
        // Whichever comes first: the team keeps an owner.
        expect(both.filter(({ status }) => status === 204).length).toBeGreaterThan(0)
        const left = await control.storage.members.list(getId(another))
        expect(left.filter(({ role }) => role === 'owner')).toHaveLength(1)
      }
    })
  })

  describe('a member who leaves', () => {
    test('loses access at once: session and tokens', async () => {
      const team = await createTeam(await signUp(control))
      const user = await join(team, 'developer')
      const token = await createToken(control, user, ['read'])
      const own = await createToken(control, { ...user, as: { ...user.as, account: user.id } }, ['read'])
      expect((await control.call('GET /api/apps', { as: token })).status).toBe(200)
      expect((await leave(user)).status).toBe(204)
      expect((await control.call('GET /api/apps', { as: token })).status).toBe(401)
      expect(expectError(await control.call('GET /api/apps', { as: user.as }), 404).code).toBe('unknown_account')
      expect((await control.call('GET /api/apps', { as: own })).status).toBe(200)
      // A member who comes back does not get the tokens back.
      await addMember(control, getId(team), { id: user.id, role: 'owner' })
      expect((await control.call('GET /api/apps', { as: token })).status).toBe(401)
    })

    test('confirms it', async () => {
      const team = await createTeam(await signUp(control))
      const { as } = await join(team, 'developer')
      control.clock.now += 16 * 60_000
      expect(expectError(await leave({ ...team, as }), 403).code).toBe('confirm_required')
      expect((await control.call('POST /api/team/leave', { as, body: { password } })).status).toBe(204)
    })

    test('cannot finish a change, or reveal a key, that began before', async () => {
      const team = await createTeam(await signUp(control))
      const { app } = await createApp(team)
      const params = { appId: app.id }
      const requests = [
        ({ as }: TestUser) => control.call('POST /api/apps', { as, body: createAppBody() }),
        ({ as }: TestUser) => control.call('POST /api/apps/{appId}/key/reveal', { as, params, body: {} }),
      ]
      const ends = [(id: string) => setRole(team, id, 'viewer'), (id: string) => remove(team, id)]
      for (const [request, end] of requests.flatMap((one) => ends.map((other) => [one, other] as const))) {
        const user = await join(team, 'admin')
        let ended: Promise<TestResponse> | undefined
        const { findActingAccount } = control.accounts
        // The role ends after the request was authorized.
        const accounts = control.accounts as { findActingAccount: typeof findActingAccount }
        accounts.findActingAccount = async (viewer, accountId) => {
          const found = await findActingAccount(viewer, accountId)
          if (viewer.user.id === user.id && ended === undefined) {
            ended = end(user.id)
            await ended
          }
          return found
        }
        const rejected = await request(user)
        accounts.findActingAccount = findActingAccount
        expect((await ended)?.status).toBe(204)
        expect(expectError(rejected, 403).code).toBe('role_required')
      }
      expect(await control.storage.apps.list(getId(team))).toHaveLength(1)
      expect((await listAudit(team)).map(({ action }) => action)).not.toContain('key.reveal')
    })

    test('a password change ends the tokens for teams too', async () => {
      const team = await createTeam(await signUp(control))
      const user = await join(team, 'viewer')
      const token = await createToken(control, user, ['read'])
      const body = { current: password, next: 'another long password' }
      expect((await control.call('POST /api/account/password', { as: user.as, body })).status).toBe(200)
      expect((await control.call('GET /api/apps', { as: token })).status).toBe(401)
    })
  })

  describe('an access token', () => {
    test('can never do more than the role of its user', async () => {
      const team = await createTeam(await signUp(control))
      const user = await join(team, 'developer')
      const scopes: readonly TokenScope[] = ['read', 'members']
      const rejected = await control.call('POST /api/tokens', {
        as: user.as,
        body: { label: 'ci', scopes, expiresAt: null },
      })
      expect(expectError(rejected, 422).fields?.[0]?.field).toBe('scopes')
      const token = await createToken(control, user, ['read', 'apps:write'])
      const create = () => control.call('POST /api/apps', { as: token, body: createAppBody() })
      expect((await create()).status).toBe(201)
      expect((await setRole(team, user.id, 'viewer')).status).toBe(204)
      expect(expectError(await create(), 403).code).toBe('role_required')
      expect((await control.call('GET /api/apps', { as: token })).status).toBe(200)
      // Each member has tokens of their own.
      const listed = await control.call('GET /api/tokens', { as: team.as })
      expect(listed.body).toEqual({ items: [] })
    })
  })

  describe('limits', () => {
    test('all accounts that a user created share the API keys, the apps and the quota', async () => {
      const owner = await signUp(control)
      const teams = [await createTeam(owner), await createTeam(owner, 'Beta')]
      const accounts = [owner, ...teams]
      const first = expectBody<{ apiKey: string }>(await createKey(teams[0] ?? owner), 201)
      for (const account of accounts) expect((await createKey(account)).status).toBe(201)
      for (const account of accounts) expect(expectError(await createKey(account), 409).code).toBe('too_many')
      const keys = await control.call('GET /api/keys', { as: owner.as })
      expect(keys.body).toMatchObject({ max: 1 })
      expect(await control.keys.find(hashApiKey(first.apiKey))).toMatchObject({ quotaOwner: owner.id })
      control.config.maxApps = 3
      for (const account of accounts) await createApp(account)
      for (const account of accounts) {
        const full = await control.call('POST /api/apps', { as: account.as, body: createAppBody() })
        expect(expectError(full, 409).code).toBe('too_many')
        expect((await control.call('GET /api/apps', { as: account.as })).body).toMatchObject({ free: 0 })
      }
      control.config.maxApps = 20
      // Also keys that are created at once.
      const other = await signUp(control)
      const several = [other, await createTeam(other), await createTeam(other, 'Beta')]
      const created = await Promise.all([...several, ...several].map((account) => createKey(account)))
      expect(created.filter(({ status }) => status === 201)).toHaveLength(4)
    })

    test('an operator gives a team limits and a quota of its own, and takes them away', async () => {
      const owner = await signUp(control)
      const team = await createTeam(owner)
      const { apiKey } = expectBody<{ apiKey: string }>(await createKey(team), 201)
      const { as } = await signUpOperator(control)
      const params = { accountId: getId(team) }
      const getQuota = async () => {
        const record = await control.keys.find(hashApiKey(apiKey))
        return record?.quotaOwner ?? record?.userId
      }
      // The limits of a user are those of the user's teams.
      await control.call('PUT /api/admin/users/{userId}/limits', {
        as,
        params: { userId: owner.id },
        body: { limits: { perDay: 5 } },
      })
      expect(await control.storage.teams.find(getId(team))).toMatchObject({ limits: { perDay: 5 }, sharesLimits: true })
      expect(await getQuota()).toBe(owner.id)
      const set = (limits: { perDay: number } | null) =>
        control.call('PUT /api/admin/accounts/{accountId}/limits', { as, params, body: { limits } })
      expect(expectBody<TeamView>(await set({ perDay: 100_000 }))).toMatchObject({
        limits: { perDay: 100_000 },
        sharesLimits: false,
        members: 1,
        apiKeys: 1,
        createdBy: owner.id,
      })
      expect(await getQuota()).toBe(getId(team))
      const usage = await control.call('GET /api/usage', { as: team.as })
      expect(usage.body).toMatchObject({ day: { limit: 100_000 } })
      for (let count = 0; count < 3; count += 1) expect((await createKey(team)).status).toBe(201)
      for (let count = 0; count < 4; count += 1) expect((await createKey(owner)).status).toBe(201)
      expect(expectBody<TeamView>(await set(null))).toMatchObject({ limits: { perDay: 5 }, sharesLimits: true })
      expect(await getQuota()).toBe(owner.id)
      expect((await createKey(team)).status).toBe(409)
    })

    test('a team whose creator is removed shares the limits of the owner who did so', async () => {
      const creator = await signUp(control)
      const team = await createTeam(creator)
      const { apiKey } = expectBody<{ apiKey: string }>(await createKey(team), 201)
      const oldest = await join(team, 'owner')
      const other = await join(team, 'owner')
      expect((await control.keys.find(hashApiKey(apiKey)))?.quotaOwner).toBe(creator.id)
      expect(expectError(await leave(team), 409).code).toBe('shares_limits')
      expect((await control.keys.find(hashApiKey(apiKey)))?.quotaOwner).toBe(creator.id)
      expect((await remove(other, creator.id)).status).toBe(204)
      expect((await leave(oldest)).status).toBe(204)
      expect((await listAudit(other))[0]).toMatchObject({ action: 'member.leave', detail: { email: oldest.email } })
      expect((await control.keys.find(hashApiKey(apiKey)))?.quotaOwner).toBe(other.id)
      // The creator gets no second plan, and neither does the other owner.
      for (let count = 0; count < 4; count += 1) expect((await createKey(creator)).status).toBe(201)
      for (let count = 0; count < 3; count += 1) expect((await createKey(other)).status).toBe(201)
      expect((await createKey({ ...other, as: { ...other.as, account: other.id } })).status).toBe(409)
    })

    test('whose limits a team shares stays an owner', async () => {
      const creator = await signUp(control)
      const team = await createTeam(creator)
      const other = await join(team, 'owner')
      expect(expectError(await setRole(other, creator.id, 'viewer'), 409).code).toBe('shares_limits')
      expect(await control.storage.members.find({ accountId: getId(team), userId: creator.id })).toMatchObject({
        role: 'owner',
      })
      const operator = await signUpOperator(control)
      const params = { accountId: getId(team) }
      const body = { limits: { perDay: 7 } }
      expectBody(await control.call('PUT /api/admin/accounts/{accountId}/limits', { as: operator.as, params, body }))
      expect((await setRole(other, creator.id, 'viewer')).status).toBe(204)
    })

    test('a creator can be removed only if the limits of the owner who does so have room', async () => {
      const creator = await signUp(control)
      const teams = [await createTeam(creator), await createTeam(creator, 'Beta')] as const
      const [team, second] = teams
      const other = await join(team, 'owner')
      await addMember(control, getId(second), { id: other.id, role: 'owner' })
      const personal = { ...other, as: { ...other.as, account: other.id } }
      for (const one of teams) expect((await createKey(one)).status).toBe(201)
      for (let count = 0; count < 3; count += 1) expect((await createKey(personal)).status).toBe(201)
      const deletion = () => control.call('POST /api/account/delete', { as: creator.as, body: { password } })
      expect(expectError(await deletion(), 409).code).toBe('shares_limits')
      for (const one of teams) {
        expect(await control.storage.teams.find(getId(one))).toMatchObject({ createdBy: creator.id })
        expect(await control.storage.members.list(getId(one))).toHaveLength(2)
      }
      expect((await remove(other, creator.id)).status).toBe(204)
      const full = await remove({ ...other, as: { ...other.as, account: getId(second) } }, creator.id)
      expect(expectError(full, 409)).toMatchObject({ code: 'too_many', message: expect.stringContaining('Beta') })
      // An owner with room takes it, although another one is older.
      const third = await signUp(control)
      const thirdInSecond = { ...third, as: { ...third.as, account: getId(second) } }
      control.clock.now += 1
      await addMember(control, getId(second), { id: third.id, role: 'owner' })
      control.config.maxApps = 2
      await createApp(second)
      await createApp(third)
      await createApp(third)
      expect(expectError(await remove(thirdInSecond, creator.id), 409).code).toBe('too_many')
      control.config.maxApps = 20
      expect((await remove(thirdInSecond, creator.id)).status).toBe(204)
      expect((await deletion()).status).toBe(204)
      expect(await control.storage.teams.find(getId(second))).toMatchObject({ createdBy: third.id, sharesLimits: true })
    })

    test('the apps of a deleted team count until the end of the day', async () => {
      const owner = await signUp(control)
      const [team, own] = [await createTeam(owner), await createTeam(owner, 'Beta')]
      const { as } = await signUpOperator(control)
      const limited = await control.call('PUT /api/admin/accounts/{accountId}/limits', {
        as,
        params: { accountId: getId(own) },
        body: { limits: { perDay: 5 } },
      })
      expect(limited.status).toBe(200)
      const { app } = await createApp(team)
      await control.call('POST /api/apps/{appId}/delete', {
        as: team.as,
        params: { appId: app.id },
        body: { name: app.name },
      })
      for (const one of [team, own]) await createApp(one)
      for (const one of [team, own]) {
        const body = { name: one === team ? 'Acme' : 'Beta' }
        expect((await control.call('POST /api/team/delete', { as: one.as, body })).status).toBe(204)
      }
      const { apps } = control.storage
      const { now } = control.clock
      expect(await apps.countUsed({ userId: owner.id, now })).toBe(2)
      expect(await apps.countUsed({ userId: owner.id, now: startOfUtcDay(now) + day })).toBe(0)
    })

    test('a user can create 10 teams', async () => {
      const owner = await signUp(control)
      for (let count = 0; count < 10; count += 1) await createTeam(owner, `Team ${count}`)
      const eleventh = await control.call('POST /api/accounts', { as: owner.as, body: { name: 'Team' } })
      expect(expectError(eleventh, 409).code).toBe('too_many')
    })

    test('an operator disables a team: its keys and its members are rejected', async () => {
      const team = await createTeam(await signUp(control))
      const { apiKey } = await createApp(team)
      const token = await createToken(control, team, ['read'])
      const { as } = await signUpOperator(control)
      const params = { accountId: getId(team) }
      expect(
        (await control.call('POST /api/admin/accounts/{accountId}/disable', { as, params, body: {} })).status,
      ).toBe(200)
      expect((await control.keys.find(hashApiKey(apiKey)))?.status).toBe('disabled')
      for (const login of [team.as, token])
        expect(expectError(await control.call('GET /api/apps', { as: login }), 403).code).toBe('account_disabled')
      // The dashboard still shows it, and the other accounts.
      expect((await control.call('GET /api/session', { as: team.as })).body).toMatchObject({
        actingFor: { id: getId(team), state: 'disabled' },
      })
      expect((await control.call('GET /api/accounts', { as: team.as })).body).toMatchObject({
        items: [{ id: team.id }, { id: getId(team), state: 'disabled' }],
      })
      expect((await control.call('POST /api/admin/accounts/{accountId}/enable', { as, params, body: {} })).status).toBe(
        200,
      )
      expect((await control.keys.find(hashApiKey(apiKey)))?.status).toBe('active')
    })
  })

  test('an operator gives a team an owner, if the last one has lost access', async () => {
    const [team, user] = [await createTeam(await signUp(control)), await signUp(control)]
    const { as } = await signUpOperator(control)
    const params = { accountId: getId(team) }
    // As an instance of the version before deletes a user.
    await control.storage.db.query.deleteFrom('users').where('id', '=', team.id).execute()
    const add = (userId: string) =>
      control.call('PUT /api/admin/accounts/{accountId}/owner', { as, params, body: { userId } })
    expect(expectError(await add('usr_00000000000000000000'), 404).code).toBe('account_deleted')
    expect(expectBody<TeamView>(await add(user.id))).toMatchObject({ members: 1 })
    const owned = { ...user, as: { ...user.as, account: getId(team) } }
    expect((await listAudit(owned))[0]).toMatchObject({ action: 'member.add', subject: user.id, actorName: null })
    // A member too, and the team can be deleted.
    const developer = await join(owned, 'developer')
    expect((await add(developer.id)).status).toBe(200)
    const deleted = await control.call('POST /api/team/delete', { as: developer.as, body: { name: 'Acme' } })
    expect(deleted.status).toBe(204)
  })

  test('a deleted team leaves nothing but its audit log', async () => {
    const owner = await signUp(control)
    const team = await createTeam(owner)
    const admin = await join(team, 'admin')
    const { apiKey } = await createApp(team)
    const token = await createToken(control, team, ['read'])
    const body = { name: 'Acme' }
    expect((await control.call('POST /api/team/delete', { as: admin.as, body })).status).toBe(403)
    const wrong = await control.call('POST /api/team/delete', { as: team.as, body: { name: 'Other' } })
    expect(expectError(wrong, 422).code).toBe('name_wrong')
    expect((await control.call('POST /api/team/delete', { as: team.as, body })).status).toBe(204)
    expect(await control.keys.find(hashApiKey(apiKey))).toBeUndefined()
    expect((await control.call('GET /api/apps', { as: token })).status).toBe(401)
    const { query } = control.storage.db
    expect(await query.selectFrom('users').selectAll().where('id', '=', getId(team)).execute()).toEqual([])
    expect((await control.storage.auditLog.list({ userId: getId(team), limit: 1 }))[0]).toMatchObject({
      action: 'team.delete',
      actor: owner.id,
    })
  })

  describe('an app that moves to another account', () => {
    const move = (from: TestUser, appId: string, to: string): Promise<TestResponse> =>
      control.call('POST /api/apps/{appId}/transfer', { as: from.as, params: { appId }, body: { accountId: to } })

    test('keeps its key, its lists, its limits and its history', async () => {
      const owner = await signUp(control)
      const { app, apiKey } = await createApp(owner)
      const params = { appId: app.id }
      const added = await control.call('POST /api/apps/{appId}/allow-list', {
        as: owner.as,
        params,
        body: { type: 'method', value: 'eth_call' },
      })
      expect(added.status).toBe(201)
      await control.call('PATCH /api/apps/{appId}', {
        as: owner.as,
        params,
        body: { version: app.version + 1, limits: { perDay: 9 } },
      })
      const { query } = control.storage.db
      await query.insertInto('usageKeys').values({ keyId: app.key.id, appId: app.id, userId: owner.id }).execute()
      const team = await createTeam(owner)
      expect(await control.keys.find(hashApiKey(apiKey))).toMatchObject({ userId: owner.id })
      expect((await move(owner, app.id, getId(team))).status).toBe(204)
      expect(await control.keys.find(hashApiKey(apiKey))).toMatchObject({
        id: app.key.id,
        appId: app.id,
        userId: getId(team),
        status: 'active',
      })
      expect((await control.call('GET /api/apps/{appId}', { as: owner.as, params })).status).toBe(404)
      const shown = await control.call('GET /api/apps/{appId}', { as: team.as, params })
      expect(shown.body).toMatchObject({ ownLimits: { perDay: 9 } })
      const revealed = await control.call('POST /api/apps/{appId}/key/reveal', { as: team.as, params, body: {} })
      expect(revealed.body).toMatchObject({ apiKey })
      const list = await control.call('GET /api/apps/{appId}/allow-list', { as: team.as, params, query: {} })
      expect(list.body).toMatchObject({ items: [{ value: 'eth_call' }] })
      const used = query.selectFrom('usageKeys').selectAll().where('appId', '=', app.id)
      // Also that of the old key of a rotation, whose calls may not be written yet.
      expect(await used.orderBy('keyId').execute()).toEqual(
        [app.key.id, `${app.key.id}:old`].map((keyId) => ({ keyId, appId: app.id, userId: getId(team) })),
      )
      for (const one of [owner, team])
        expect(await listAudit(one)).toContainEqual(
          expect.objectContaining({ action: 'app.transfer', subject: app.id, actorName: owner.email }),
        )
      // And back.
      expect((await move(team, app.id, owner.id)).status).toBe(204)
      expect((await control.call('GET /api/apps/{appId}', { as: owner.as, params })).status).toBe(200)
      expect((await move(owner, app.id, getId(team))).status).toBe(204)
    })

    test('needs an admin of its account and a developer of the other one', async () => {
      const source = await createTeam(await signUp(control))
      const target = await createTeam(await signUp(control))
      const { app } = await createApp(source)
      const person = await join(source, 'admin')
      const to = getId(target)
      expect(expectError(await move(person, app.id, to), 422).fields?.[0]?.field).toBe('accountId')
      await addMember(control, to, { id: person.id, role: 'viewer' })
      expect((await move(person, app.id, to)).status).toBe(422)
      const there = { ...target, as: target.as }
      expect((await setRole(there, person.id, 'developer')).status).toBe(204)
      expect((await setRole(source, person.id, 'developer')).status).toBe(204)
      expect(expectError(await move(person, app.id, to), 403).code).toBe('role_required')
      expect((await setRole(source, person.id, 'admin')).status).toBe(204)
      expect((await move(person, app.id, getId(source))).status).toBe(422)
      expect((await move(person, app.id, (await signUp(control)).id)).status).toBe(422)
      expect((await move(person, app.id, to)).status).toBe(204)
    })

    test('counts for the other account, and in the first one until the end of the day', async () => {
      const source = await createTeam(await signUp(control))
      const other = await signUp(control)
      const target = await createTeam(other)
      await addMember(control, getId(target), { id: source.id, role: 'developer' })
      const [first, second] = [await createApp(source), await createApp(source)]
      control.config.maxApps = 2
      expect((await move(source, first.app.id, getId(target))).status).toBe(204)
      // An instance of the version before can still record the removal of the app by its id.
      const { query } = control.storage.db
      const places = await query.selectFrom('removedApps').select('id').where('userId', '=', getId(source)).execute()
      expect(places).toHaveLength(1)
      expect(places[0]?.id).not.toBe(first.app.id)
      const apps = await control.call('GET /api/apps', { as: source.as })
      expect(apps.body).toMatchObject({ total: 1, free: 0 })
      const full = await control.call('POST /api/apps', { as: source.as, body: createAppBody() })
      expect(expectError(full, 409).code).toBe('too_many')
      await createApp(target)
      expect(expectError(await move(source, second.app.id, getId(target)), 409).code).toBe('too_many')
      const now = startOfUtcDay(control.clock.now) + day
      expect(await control.storage.apps.countUsed({ userId: getId(source), now })).toBe(1)
      control.config.maxApps = 20
      const taken = createAppBody(second.app.name)
      expectBody(await control.call('POST /api/apps', { as: target.as, body: taken }), 201)
      const rejected = expectError(await move(source, second.app.id, getId(target)), 409)
      expect(rejected).toMatchObject({ code: 'name_taken', fields: [{ field: 'accountId' }] })
    })

    test('locks the teams in one order, in both directions, and lets other changes in them go on', async () => {
      const owner = await signUp(control)
      const teams = [await createTeam(owner), await createTeam(owner, 'Beta')] as const
      const [{ app }, own] = [await createApp(teams[0]), await createApp(owner)]
      const { transaction } = control.storage
      const locked: string[] = []
      const storage = control.storage as { transaction: typeof transaction }
      storage.transaction = (work) =>
        transaction((within) => {
          const lock: typeof within.teams.lock = (id, mode) => {
            locked.push(`${id} ${mode}`)
            return within.teams.lock(id, mode)
          }
          return work({ ...within, teams: { ...within.teams, lock } })
        })
      const [one, other] = teams
      const there = await move(one, app.id, getId(other))
      const back = await move(other, app.id, getId(one))
      const joined = await move(owner, own.app.id, getId(one))
      storage.transaction = transaction
      expect([there.status, back.status, joined.status]).toEqual([204, 204, 204])
      const order = teams.map((team) => `${getId(team)} shared`).toSorted()
      // A personal account has no members to lock.
      expect(locked).toEqual([...order, ...order, `${getId(one)} shared`])
    })

    test('several transfers at once, in both directions, end with one owner for each app', async () => {
      const owner = await signUp(control)
      const teams = [owner, await createTeam(owner), await createTeam(owner, 'Beta')] as const
      const apps = await Promise.all(teams.map(async (one) => ({ from: one, ...(await createApp(one)) })))
      const results = await Promise.all(
        apps.flatMap(({ from, app }) =>
          teams
            .filter((to) => to !== from)
            .map((to) =>
              move(
                { ...from, as: { ...from.as, account: from.as.account ?? owner.id } },
                app.id,
                to.as.account ?? owner.id,
              ),
            ),
        ),
      )
      expect(results.every(({ status }) => [204, 404].includes(status))).toBe(true)
      for (const { app, apiKey } of apps) {
        const owners = await Promise.all(
          teams.map((one) => control.storage.apps.find({ id: app.id, userId: one.as.account ?? owner.id })),
        )
        expect(owners.filter((found) => found !== undefined)).toHaveLength(1)
        expect((await control.keys.find(hashApiKey(apiKey)))?.status).toBe('active')
      }
    })
  })
})
