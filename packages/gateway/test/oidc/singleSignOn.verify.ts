import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hashRecoveryCode } from '../../src/control/account/recoveryCodes.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import { createOidcClient } from '../../src/oidc/createOidcClient.ts'
import type { OidcConfig, OidcEvent } from '../../src/oidc/oidcClient.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { expectOk, newEmail, newIp, password } from '../account/accountFixture.ts'
import type { AccountFixture } from '../account/accountFixture.ts'
import { createFactorFixture } from '../account/factorFixture.ts'
import { databasesAndFactors } from '../account/factorKinds.ts'
import { createInbox, readLink } from '../email/inbox.ts'
import { startOidcProvider } from './startOidcProvider.ts'
import type { OidcProvider } from './startOidcProvider.ts'

const siteUrl = 'https://rpc.example.org'
const redirectUri = `${siteUrl}/log-in/single-sign-on`
const minute = 60_000
const secrets = [createServerSecret(randomBytes(32).toString('hex'))]

let subjects = 0
/** A new user of the provider, whose address it has verified. */
const newUser = () => ({ sub: `subject-${(subjects += 1)}`, email: newEmail(), email_verified: true as unknown })

describe.each(databasesAndFactors)('single sign-on on $name', ({ database, factor }) => {
  /** For tests that are not about an attack, and those that have their own factor. */
  const once = [factor].filter((one) => one === 'no factor')
  let storage: Storage
  let provider: OidcProvider
  let fixture: AccountFixture
  let config: OidcConfig | undefined
  let events: OidcEvent[]
  let isPasswordLogin: boolean
  const inbox = createInbox()
  beforeAll(async () => {
    storage = await openStorage(await database.create())
    provider = await startOidcProvider({ redirectUri })
  })
  afterAll(async () => {
    await provider.close()
    await storage.close()
    await database.stop()
  })
  beforeEach(() => {
    config = provider.config
    events = []
    isPasswordLogin = true
    inbox.isOn = false
    Object.assign(provider, { user: newUser(), fault: undefined, declines: false })
    const client = createOidcClient({
      config: () => config,
      onEvent: (event) => events.push(event),
      timeoutMs: 30_000,
    })
    fixture = createFactorFixture(factor, storage, {
      oidc: { client, siteUrl: () => siteUrl },
      passwordLogin: () => isPasswordLogin,
      mailer: inbox.mailer,
      secrets,
    })
  })

  /** Starts a log-in, and logs in at the provider. */
  const start = async () => {
    const { url, token } = expectOk(await fixture.accounts.startSingleSignOn({ ip: newIp() }))
    return { url: new URL(url), token, back: await provider.visit(url) }
  }
  type More = { current?: string; invite?: string; connect?: boolean }
  const finish = (token: string | undefined, response: string, more: More = {}) =>
    fixture.accounts.finishSingleSignOn({ token, response, ip: newIp(), ...more })
  const logIn = async (more?: More) => {
    const { token, back } = await start()
    return finish(token, back.search, more)
  }
  const listActions = async (userId: string) =>
    (await storage.auditLog.list({ userId, limit: 50 })).map(({ action }) => action).toReversed()
  /** Signs up by password, with a confirmed address. */
  const signUpVerified = async (email: string) => {
    inbox.isOn = true
    await fixture.accounts.requestSignUp({ email, ip: newIp() })
    const { secret: link } = readLink(await inbox.next())
    const result = expectOk(await fixture.accounts.signUp({ email, password, link, ip: newIp() }))
    inbox.isOn = false
    return result
  }

  describe.each(once)('groups', () => {
    const createTeam = async (name: string) => {
      const { viewer } = await fixture.signUp()
      return { owner: viewer, ...expectOk(await fixture.accounts.teams.create({ viewer, name, ip: newIp() })) }
    }
    const getRoles = async (userId: string) =>
      (await storage.members.listByUser(userId)).map(({ accountId, role }) => `${accountId} ${role}`).toSorted()

    test('give roles in teams, change them, and take them away at the next log-in', async () => {
      const [acme, beta] = [await createTeam('Acme'), await createTeam('Beta')]
      config = {
        ...provider.config,
        groups: [
          { group: 'staff', account: acme.id, role: 'viewer' },
          { group: 'ops', account: acme.id, role: 'admin' },
          { group: 'ops', account: beta.id, role: 'developer' },
          { group: 'ops', account: 'acc_00000000000000000000', role: 'owner' },
        ],
      }
      provider.user = { ...provider.user, groups: ['ops', 'staff', 7] }
      const { id } = expectOk(await logIn()).viewer.user
      expect(await getRoles(id)).toEqual([`${acme.id} admin`, `${beta.id} developer`].toSorted())
      const { viewer } = expectOk(await logIn())
      const { text } = expectOk(
        await fixture.accounts.createAccessToken({
          viewer,
          accountId: beta.id,
          label: 'ci',
          scopes: ['read'],
          expiresAt: null,
        }),
      )
      // A text in place of a list.
      provider.user = { ...provider.user, groups: 'staff' }
      expectOk(await logIn())
      expect(await getRoles(id)).toEqual([`${acme.id} viewer`])
      expect(await fixture.accounts.authenticateToken(text)).toBeUndefined()
      provider.user = { ...provider.user, groups: undefined }
      expectOk(await logIn())
      expect(await getRoles(id)).toEqual([])
      expect(await listActions(acme.id)).toEqual(['team.create', 'member.join', 'member.role', 'member.remove'])
    })

    test('do not change roles of members who were invited, and leave a team its last owner', async () => {
      const acme = await createTeam('Acme')
      config = { ...provider.config, groups: [{ group: 'ops', account: acme.id, role: 'owner' }] }
      provider.user = { ...provider.user, groups: ['ops'] }
      const { viewer } = expectOk(await logIn())
      const { id } = viewer.user
      const removal = { viewer, account: acme, userId: acme.owner.user.id, ip: newIp() }
      expect(await fixture.accounts.teams.removeMember(removal)).toBe(true)
      provider.user = { ...provider.user, groups: [] }
      expectOk(await logIn())
      expect(await getRoles(id)).toEqual([`${acme.id} owner`])
      const beta = await createTeam('Beta')
      await storage.members.add({ accountId: beta.id, userId: id, role: 'viewer', now: 0 })
      config = { ...provider.config, groups: [{ group: 'ops', account: beta.id, role: 'admin' }] }
      for (const groups of [['ops'], []]) {
        provider.user = { ...provider.user, groups }
        expectOk(await logIn())
        expect(await getRoles(id)).toContain(`${beta.id} viewer`)
      }
    })

    test('are taken away when the provider is disconnected, because no log-in with it could do so', async () => {
      const acme = await createTeam('Acme')
      config = { ...provider.config, groups: [{ group: 'ops', account: acme.id, role: 'admin' }] }
      provider.user = { ...provider.user, groups: ['ops'] }
      const { viewer } = expectOk(await logIn())
      const { id } = viewer.user
      expect(await getRoles(id)).toEqual([`${acme.id} admin`])
      expect(await fixture.accounts.removeIdentity({ viewer, issuer: 'https://other.example', ip: newIp() })).toBe(
        false,
      )
      expect(await getRoles(id)).toEqual([`${acme.id} admin`])
      expect(await fixture.accounts.removeIdentity({ viewer, issuer: provider.issuer, ip: newIp() })).toBe(true)
      expect(await getRoles(id)).toEqual([])
    })

    test('add nobody to a team that is full', async () => {
      const acme = await createTeam('Acme')
      for (let count = 1; count < 50; count += 1) {
        const { viewer } = await fixture.signUp()
        await storage.members.add({ accountId: acme.id, userId: viewer.user.id, role: 'viewer', now: 0 })
      }
      config = { ...provider.config, groups: [{ group: 'ops', account: acme.id, role: 'admin' }] }
      provider.user = { ...provider.user, groups: ['ops'] }
      const { id } = expectOk(await logIn()).viewer.user
      expect(await getRoles(id)).toEqual([])
    })

    test('change the roles of a user who has not proved the second factor yet', async () => {
      const acme = await createTeam('Acme')
      config = { ...provider.config, groups: [{ group: 'ops', account: acme.id, role: 'admin' }] }
      provider.user = { ...provider.user, groups: ['ops'] }
      const { id } = expectOk(await logIn()).viewer.user
      await storage.db.query.updateTable('users').set({ hasSecondFactor: 1 }).where('id', '=', id).execute()
      provider.user = { ...provider.user, groups: [] }
      expect(await logIn()).toHaveProperty('pending')
      expect(await getRoles(id)).toEqual([])
    })
  })

  describe.each(once)('log-in', () => {
    test('signs up with the verified address of the provider, and finds the account again by the subject', async () => {
      const { email } = provider.user
      const { url, token, back } = await start()
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'openid email',
        code_challenge_method: 'S256',
      })
      expect(back.origin + back.pathname).toBe(redirectUri)
      const { viewer, token: session } = expectOk(await finish(token, back.search))
      expect(viewer.user).toMatchObject({ email, emailVerifiedAt: fixture.clock.now, hasPassword: false })
      expect((await fixture.accounts.authenticate(session))?.user.id).toBe(viewer.user.id)
      // The address at the provider changes, also to one that is not verified. The account keeps its own.
      provider.user = { ...provider.user, email: newEmail(), email_verified: false }
      const again = expectOk(await logIn({ current: session }))
      expect(again.viewer.user).toMatchObject({ id: viewer.user.id, email })
      expect(await fixture.accounts.authenticate(session)).toBeUndefined()
      expect(await listActions(viewer.user.id)).toEqual(['account.signUp', 'account.logIn', 'account.logIn'])
      expect(events).toEqual([])
    })

    test('accepts email_verified as a text, and without it if the config trusts the provider', async () => {
      provider.user = { ...newUser(), email_verified: 'true' }
      expect(expectOk(await logIn()).viewer.user.email).toBe(provider.user.email)
      config = { ...provider.config, trustEmail: true }
      provider.user = { ...newUser(), email_verified: undefined }
      expect(expectOk(await logIn()).viewer.user.emailVerifiedAt).not.toBeNull()
    })

    test('needs the second factor of the account, in the same browser', async () => {
      const { viewer, token } = expectOk(await logIn())
      await storage.db.query.updateTable('users').set({ hasSecondFactor: 1 }).where('id', '=', viewer.user.id).execute()
      const codes = ['7KQ2-7KQ2-7KQ2-7KQ2', '8KQ2-7KQ2-7KQ2-7KQ2']
      await storage.factors.setRecoveryCodes(viewer.user.id, codes.map(hashRecoveryCode))
      const started = await logIn()
      if (!('pending' in started)) throw new Error('not pending')
      const { pending } = started
      expect(await fixture.accounts.authenticate(pending)).toBeUndefined()
      const request = { proof: { code: codes[0] ?? '' }, site: siteUrl, ip: newIp() }
      expect(await fixture.accounts.finishLogIn({ ...request, pending: undefined })).toMatchObject({ status: 403 })
      const finished = expectOk(await fixture.accounts.finishLogIn({ ...request, pending, current: token }))
      expect(finished.viewer.user.id).toBe(viewer.user.id)
      // A session that has proved it does not have to do so again. It is not fresher than before.
      const { factorAt } = finished.viewer.session ?? {}
      fixture.clock.now += minute
      const connected = expectOk(await logIn({ current: finished.token, connect: true }))
      expect(connected.viewer.session?.factorAt).toBe(factorAt)
      // An ordinary log-in proves it again, and so does a session that is no longer fresh.
      const current = connected.token
      expect(await logIn({ current })).toHaveProperty('pending')
      fixture.clock.now += 9 * minute
      expect(await logIn({ current, connect: true })).toHaveProperty('pending')
      expect(await logIn({ current: expectOk(await fixture.signUp()).token })).toHaveProperty('pending')
    })

    describe('of an account with a second factor', () => {
      const codes = ['7KQ2-7KQ2-7KQ2-7KQ2', '8KQ2-7KQ2-7KQ2-7KQ2', '9KQ2-7KQ2-7KQ2-7KQ2']
      const protect = async (userId: string) => {
        await storage.db.query.updateTable('users').set({ hasSecondFactor: 1 }).where('id', '=', userId).execute()
        await storage.factors.setRecoveryCodes(userId, codes.map(hashRecoveryCode))
      }
      const startPending = async (more?: More): Promise<string> => {
        const started = await logIn(more)
        if (!('pending' in started)) throw new Error(`not pending: ${JSON.stringify(started)}`)
        return started.pending
      }
      const prove = (pending: string, code = '') =>
        fixture.accounts.finishLogIn({ pending, proof: { code }, site: siteUrl, ip: newIp() })
      const expired = { status: 403, code: 'log_in_expired' }

      test('connects it when the factor is proved, not before, and then gives the roles of its groups', async () => {
        const { viewer: owner } = await fixture.signUp()
        const team = expectOk(await fixture.accounts.teams.create({ viewer: owner, name: 'Acme', ip: newIp() }))
        config = { ...provider.config, groups: [{ group: 'ops', account: team.id, role: 'developer' }] }
        provider.user = { ...provider.user, groups: ['ops', 'others'] }
        const { viewer, token } = await signUpVerified(provider.user.email ?? '')
        const { id } = viewer.user
        await protect(id)
        const expectUnconnected = async () => {
          expect(await storage.identities.list(id)).toEqual([])
          expect(await storage.members.listByUser(id)).toEqual([])
          expect(await listActions(id)).not.toContain('account.connect')
        }
        const pending = await startPending({ current: token })
        await expectUnconnected()
        expect(await prove(pending, 'WRONG')).toMatchObject({ code: 'second_factor_wrong' })
        // What it connects cannot be changed, added or left out.
        const [user, expiry, nonce, signature, connects = ''] = pending.split('.')
        const evil = Buffer.from(Buffer.from(connects, 'base64url').toString().replace('subject', 'another'))
        const plain = [user, expiry, nonce, signature].join('.')
        for (const forged of [`${plain}.${evil.toString('base64url')}`, plain, `${plain}.`])
          expect(await prove(forged, codes[0])).toMatchObject(expired)
        await expectUnconnected()
        expectOk(await prove(pending, codes[0]))
        expect(await storage.identities.list(id)).toMatchObject([
          { issuer: provider.issuer, subject: provider.user.sub },
        ])
        expect(await storage.members.listByUser(id)).toMatchObject([{ accountId: team.id, role: 'developer' }])
        expect(await listActions(id)).toEqual(expect.arrayContaining(['account.connect', 'account.logIn']))
        expect(await prove(pending, codes[1])).toMatchObject(expired)
        // The next log-in knows it.
        expectOk(await prove(await startPending(), codes[2]))
      })

      test('confirms the address of a session that is no longer fresh when the factor is proved', async () => {
        const email = provider.user.email ?? ''
        const { viewer } = expectOk(await fixture.accounts.signUp({ email, password, ip: newIp() }))
        await protect(viewer.user.id)
        const started = expectOk(await fixture.accounts.signUp({ email: newEmail(), password, ip: newIp() }))
        expect(await logIn({ current: started.token })).toMatchObject({ code: 'single_sign_on_not_connected' })
        const byPassword = await fixture.accounts.logIn({ email, password, ip: newIp() })
        if (!('pending' in byPassword)) throw new Error('not pending')
        const { token } = expectOk(await prove(byPassword.pending, codes[0]))
        fixture.clock.now += 10 * minute
        const pending = await startPending({ current: token, connect: true })
        expect((await storage.users.find(viewer.user.id))?.emailVerifiedAt).toBeNull()
        const finished = expectOk(await prove(pending, codes[1]))
        expect(finished.viewer.user.emailVerifiedAt).toBe(fixture.clock.now)
        expect(await storage.users.find(viewer.user.id)).toMatchObject({ emailVerifiedAt: fixture.clock.now })
      })

      test('connects nothing that belongs to another account by then', async () => {
        const { viewer } = await signUpVerified(provider.user.email ?? '')
        await protect(viewer.user.id)
        const pending = await startPending()
        const { viewer: other } = await fixture.signUp()
        const { issuer, user } = provider
        await storage.identities.add({ issuer, subject: user.sub, userId: other.user.id, now: 0 })
        expect(await prove(pending, codes[0])).toMatchObject(expired)
        expect(await storage.identities.list(viewer.user.id)).toEqual([])
        expect(await storage.sessions.list(viewer.user.id)).toHaveLength(1)
      })

      test('is rejected before the factor, as without one, if the address is not proof of the account', async () => {
        const unverified = { ...provider.user, email_verified: false }
        const { viewer } = await signUpVerified(provider.user.email ?? '')
        await protect(viewer.user.id)
        provider.user = unverified
        expect(await logIn()).toMatchObject({ code: 'single_sign_on_email_unverified' })
        provider.user = newUser()
        const { viewer: unconfirmed } = expectOk(
          await fixture.accounts.signUp({ email: provider.user.email ?? '', password, ip: newIp() }),
        )
        await protect(unconfirmed.user.id)
        expect(await logIn()).toMatchObject({ code: 'single_sign_on_not_connected' })
        provider.user = newUser()
        const { viewer: connected } = expectOk(await logIn())
        await protect(connected.user.id)
        provider.user = { ...newUser(), email: provider.user.email ?? '' }
        expect(await logIn()).toMatchObject({ code: 'single_sign_on_not_connected' })
      })
    })

    test('an account without a password rejects every password', async () => {
      const { email = '' } = provider.user
      expectOk(await logIn())
      for (const given of [password, 'undefined', ' '.repeat(8)])
        expect(await fixture.accounts.logIn({ email, password: given, ip: newIp() })).toMatchObject({
          code: 'wrong_credentials',
        })
    })

    test('connects an account whose address is confirmed; its password still works', async () => {
      const { email = '' } = provider.user
      const { viewer } = await signUpVerified(email)
      const { viewer: connected } = expectOk(await logIn())
      expect(connected.user).toMatchObject({ id: viewer.user.id, hasPassword: true })
      expectOk(await fixture.accounts.logIn({ email, password, ip: newIp() }))
      expect(await listActions(viewer.user.id)).toEqual([
        'account.signUp',
        'account.connect',
        'account.logIn',
        'account.logIn',
      ])
    })

    test.each(['closed', 'invite'] as const)(
      'with %s sign-up, creates no account without permission',
      async (signUp) => {
        fixture.mode.signUp = signUp
        const expected = { status: 403, code: signUp === 'closed' ? 'sign_up_closed' : 'invite_required' }
        expect(await logIn()).toMatchObject(expected)
        expect(await storage.users.findByEmail(provider.user.email ?? '')).toBeUndefined()
      },
    )

    test('an invite signs up once, and only the address that it is for', async () => {
      fixture.mode.signUp = 'invite'
      const { email = '' } = provider.user
      const { text: invite } = expectOk(await fixture.accounts.operator.inviteUser({ email }))
      const invited = provider.user
      provider.user = newUser()
      expect(await logIn({ invite })).toMatchObject({ code: 'invite_invalid' })
      provider.user = invited
      expectOk(await logIn({ invite }))
      // The second log-in needs none.
      expectOk(await logIn())
      provider.user = newUser()
      expect(await logIn({ invite })).toMatchObject({ code: 'invite_invalid' })
    })

    test('a deleted account signs up again', async () => {
      const { viewer } = expectOk(await logIn())
      expect(await fixture.accounts.deleteAccount({ viewer })).toBe(true)
      const { viewer: next } = expectOk(await logIn())
      expect(next.user.id).not.toBe(viewer.user.id)
    })

    test('an account without a password confirms by another log-in', async () => {
      const { viewer } = expectOk(await logIn())
      expect(await fixture.accounts.confirm(viewer)).toBe(true)
      fixture.clock.now += 15 * minute
      const rejected = { status: 403, code: 'log_in_again' }
      expect(await fixture.accounts.confirm(viewer, password)).toMatchObject(rejected)
      expect(await fixture.accounts.deleteAccount({ viewer, password })).toMatchObject(rejected)
      const { viewer: again } = expectOk(await logIn())
      expect(await fixture.accounts.confirm(again)).toBe(true)
    })
  })

  describe('attacks', () => {
    test('a disabled account is rejected, also before it is connected', async () => {
      const { viewer } = await signUpVerified(provider.user.email ?? '')
      const { id } = viewer.user
      await fixture.accounts.operator.setUserState({ id, state: 'disabled' })
      expect(await logIn()).toMatchObject({ code: 'account_disabled' })
      await fixture.accounts.operator.setUserState({ id, state: 'active' })
      expectOk(await logIn())
      await fixture.accounts.operator.setUserState({ id, state: 'disabled' })
      expect(await logIn()).toMatchObject({ code: 'account_disabled' })
    })

    test.each([false, undefined, 'false', 'TRUE', 'yes', 1, null, ['true']])(
      'an address that the provider has not verified (%s) neither opens an account nor creates one',
      async (verified) => {
        const { viewer } = await signUpVerified(provider.user.email ?? '')
        provider.user = { ...provider.user, email_verified: verified }
        const rejected = { status: 403, code: 'single_sign_on_email_unverified' }
        expect(await logIn()).toMatchObject(rejected)
        provider.user = { ...newUser(), email_verified: verified }
        expect(await logIn()).toMatchObject(rejected)
        expect(await storage.identities.list(viewer.user.id)).toEqual([])
      },
    )

    test.each(['false', false, null, 0])(
      'trustEmail does not trust an address that the provider marks as not verified (%j)',
      async (verified) => {
        config = { ...provider.config, trustEmail: true }
        provider.user = { ...newUser(), email_verified: verified }
        expect(await logIn()).toMatchObject({ code: 'single_sign_on_email_unverified' })
      },
    )

    test('someone who signed up with the address of another person does not get to share their account', async () => {
      const email = provider.user.email ?? ''
      const { viewer, token } = expectOk(await fixture.accounts.signUp({ email, password, ip: newIp() }))
      expect(await logIn()).toMatchObject({ status: 409, code: 'single_sign_on_not_connected' })
      expect(await storage.identities.list(viewer.user.id)).toEqual([])
      // Another account's session is no permission, the account's own is.
      const { token: other } = await fixture.signUp()
      expect(await logIn({ current: other })).toMatchObject({ code: 'single_sign_on_not_connected' })
      const { viewer: connected } = expectOk(await logIn({ current: token, connect: true }))
      expect(connected.user).toMatchObject({ id: viewer.user.id, emailVerifiedAt: fixture.clock.now })
    })

    test('another user of the provider who got the address does not get the account', async () => {
      const { viewer } = expectOk(await logIn())
      provider.user = { ...newUser(), email: provider.user.email ?? '' }
      expect(await logIn()).toMatchObject({ status: 409, code: 'single_sign_on_not_connected' })
      expect(await storage.identities.list(viewer.user.id)).toHaveLength(1)
    })

    test('an account is not connected to an identity with another address', async () => {
      const { token, viewer } = await signUpVerified(newEmail())
      expect(await logIn({ current: token, connect: true })).toMatchObject({ code: 'single_sign_on_not_connected' })
      expect(await logIn({ connect: true })).toMatchObject({ code: 'single_sign_on_not_connected' })
      expect(await storage.identities.list(viewer.user.id)).toEqual([])
      expect(await storage.users.findByEmail(provider.user.email ?? '')).toBeUndefined()
    })

    const invalid = { status: 403, code: 'single_sign_on_invalid' }

    test("login CSRF: a response of an attacker's log-in works in no other browser", async () => {
      const attacker = await start()
      const victim = await start()
      expect(await finish(undefined, attacker.back.search)).toMatchObject(invalid)
      expect(await finish(victim.token, attacker.back.search)).toMatchObject(invalid)
      // Nothing reached the provider, so the codes still work in their own browsers.
      expectOk(await finish(attacker.token, attacker.back.search))
      expectOk(await finish(victim.token, victim.back.search))
    })

    test("code injection: a stolen code does not work with another log-in's state", async () => {
      const victim = await start()
      const attacker = await start()
      const injected = new URLSearchParams(attacker.back.search)
      injected.set('code', victim.back.searchParams.get('code') ?? '')
      expect(await finish(attacker.token, injected.toString())).toMatchObject({ code: 'single_sign_on_failed' })
      expect(events).toEqual([
        { event: 'oidc', step: 'finish', state: 'failed', reason: 'invalid_grant OAUTH_RESPONSE_BODY_ERROR HTTP 400' },
      ])
    })

    test('mix-up: a response that names another issuer, and one to another provider, are rejected', async () => {
      const { token, back } = await start()
      const named = new URLSearchParams(back.search)
      named.set('iss', 'https://evil.example')
      expect(await finish(token, named.toString())).toMatchObject({ code: 'single_sign_on_failed' })
      const other = await startOidcProvider({ redirectUri })
      const { length } = other.requests
      config = other.config
      expect(await finish(token, back.search)).toMatchObject(invalid)
      // The code was not sent to it.
      expect(other.requests).toHaveLength(length)
      config = { ...provider.config, clientId: 'another-client' }
      expect(await finish(token, back.search)).toMatchObject(invalid)
      await other.close()
    })

    test('a replayed response is rejected, also by another instance and if the provider would accept it', async () => {
      const { token, back } = await start()
      const identity = {
        issuer: provider.issuer,
        subject: 'replayed',
        email: newEmail(),
        isEmailVerified: true,
        groups: [],
      }
      const lenient = { ...createOidcClient({ config: () => config }), finish: async () => identity }
      const oidc = { client: lenient, siteUrl: () => siteUrl }
      const [one, two] = [
        createFactorFixture(factor, storage, { oidc, secrets }),
        createFactorFixture(factor, storage, { oidc, secrets }),
      ]
      const request = { token, response: back.search, ip: newIp() }
      expectOk(await one.accounts.finishSingleSignOn(request))
      expect(await one.accounts.finishSingleSignOn(request)).toMatchObject(invalid)
      expect(await two.accounts.finishSingleSignOn(request)).toMatchObject(invalid)
    })

    test('a log-in survives a rotation of the server secret, not the removal of the old one', async () => {
      const { token, back } = await start()
      const next = createServerSecret(randomBytes(32).toString('hex'), { version: 2 })
      const client = createOidcClient({ config: () => config, timeoutMs: 30_000 })
      const oidc = { client, siteUrl: () => siteUrl }
      const request = { token, response: back.search, ip: newIp() }
      const removed = createFactorFixture(factor, storage, { oidc, secrets: [next] })
      expect(await removed.accounts.finishSingleSignOn(request)).toMatchObject(invalid)
      const rotated = createFactorFixture(factor, storage, { oidc, secrets: [next, ...secrets] })
      expectOk(await rotated.accounts.finishSingleSignOn(request))
    })

    test('a code works once', async () => {
      const { token, back } = await start()
      expectOk(await finish(token, back.search))
      expect(await finish(token, back.search)).toMatchObject({ code: 'single_sign_on_failed' })
    })

    test('a log-in expires after 10 minutes, and a browser cannot extend it', async () => {
      const { token, back } = await start()
      fixture.clock.now += 10 * minute
      expect(await finish(token, back.search)).toMatchObject(invalid)
      const extended = `${fixture.clock.now + minute}${token.slice(token.indexOf('.'))}`
      expect(await finish(extended, back.search)).toMatchObject(invalid)
    })

    test.each([
      ['no state', (search: URLSearchParams) => search.delete('state')],
      ['an empty state', (search: URLSearchParams) => search.set('state', '')],
      ['two states', (search: URLSearchParams) => search.append('state', 'another')],
      ['two codes', (search: URLSearchParams) => search.append('code', 'another')],
      ['no code', (search: URLSearchParams) => search.delete('code')],
      ['an ID token', (search: URLSearchParams) => search.set('id_token', 'a.b.c')],
    ])('a response with %s is rejected', async (_, change) => {
      const { token, back } = await start()
      change(back.searchParams)
      expect(await finish(token, back.search)).toMatchObject({ status: 403 })
    })

    test('failed log-ins are limited for each IP address, and in the audit log', async () => {
      const ip = newIp()
      const request = { token: undefined, response: '', ip }
      for (let count = 0; count < 30; count += 1)
        expect(await fixture.accounts.finishSingleSignOn(request)).toMatchObject(invalid)
      expect(await fixture.accounts.finishSingleSignOn(request)).toMatchObject({ status: 429, code: 'too_many_tries' })
      const [last] = await storage.auditLog.list({ action: 'account.logInFailed', limit: 1 })
      expect(last).toMatchObject({ userId: null, ip, detail: { why: 'single_sign_on_invalid' } })
      for (let count = 0; count < 60; count += 1) expectOk(await fixture.accounts.startSingleSignOn({ ip }))
      expect(await fixture.accounts.startSingleSignOn({ ip })).toMatchObject({ status: 429, code: 'too_many_tries' })
    })

    test('used log-ins are pruned once they have expired', async () => {
      const { query } = storage.db
      const count = async () => (await query.selectFrom('usedSignOns').selectAll().execute()).length
      expectOk(await logIn())
      expect(await count()).toBeGreaterThan(0)
      fixture.clock.now += 60 * minute
      await fixture.accounts.prune()
      expect(await count()).toBe(0)
    })
  })

  describe.each(once)('without passwords', () => {
    test('everything about passwords is rejected, and single sign-on works', async () => {
      const { accounts } = fixture
      const { viewer, email } = await fixture.signUp()
      const { id } = viewer.user
      const { text: link } = expectOk(await accounts.operator.resetLink({ id }))
      isPasswordLogin = false
      inbox.isOn = true
      const disabled = { status: 403, code: 'password_log_in_disabled' }
      const from = { ip: newIp() }
      expect(await accounts.signUp({ email: newEmail(), password, ...from })).toMatchObject(disabled)
      expect(await accounts.requestSignUp({ email: newEmail(), ...from })).toMatchObject(disabled)
      expect(await accounts.logIn({ email, password, ...from })).toMatchObject(disabled)
      expect(await accounts.forgotPassword({ email, ...from })).toMatchObject(disabled)
      expect(await accounts.resetPassword({ link, password, ...from })).toMatchObject(disabled)
      expect(await accounts.changePassword({ viewer, current: password, next: 'a new one', ...from })).toMatchObject(
        disabled,
      )
      expect(await accounts.operator.resetLink({ id })).toMatchObject(disabled)
      fixture.clock.now += 15 * minute
      expect(await accounts.confirm(viewer, password)).toMatchObject({ code: 'log_in_again' })
      expectOk(await logIn())
      const token = await accounts.createAccessToken({
        viewer,
        label: 'ci',
        scopes: ['read'],
        expiresAt: null,
      })
      expect(await accounts.authenticateToken(expectOk(token).text)).toMatchObject({ user: { id } })
    })
  })
})
