import { describe, expect, test } from 'vitest'
import type {
  ActingAccountView,
  AppView,
  DeploymentView,
  FactorOptionsView,
  FactorsView,
  NewFactorOptionsView,
  NewFactorView,
  RecoveryCodesView,
  SessionView,
  UserView,
} from '../../src/control/contract/controlApi.d.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { getAppCode, stepMs } from '../account/appCode.ts'
import { createSoftAuthenticator } from '../account/softAuthenticator.ts'
import {
  addMember,
  createAppBody,
  createFixture,
  createToken,
  expectBody,
  expectError,
  newEmail,
  password,
  readCookie,
  signUp,
  signUpOperator,
} from './accountFixture.ts'
import type { TestUser } from './accountFixture.ts'
import type { Login, StartedControl } from './startControl.ts'
import { useControl } from './useControl.ts'

const minute = 60_000
describe.each(suiteDatabases)('second factors over HTTP on $name', (database) => {
  let control: StartedControl
  useControl(database, (started) => (control = started))

  const addApp = async ({ as }: Pick<TestUser, 'as'>) => {
    const { totp } = expectBody<NewFactorOptionsView>(
      await control.call('POST /api/account/factors/options', { as, body: {} }),
    )
    const code = getAppCode(totp.secret, control.clock.now)
    const response = await control.call('POST /api/account/factors', {
      as,
      body: { label: 'App', totp: { setup: totp.setup, code } },
    })
    control.clock.now += stepMs
    // The first one starts a new session.
    const cookie = readCookie(response)
    return { secret: totp.secret, ...expectBody<NewFactorView>(response, 201), as: cookie === '' ? as : { cookie } }
  }
  /** Enters the password. @returns The cookie of the log-in that is pending. */
  const startLogIn = async (email: string, pass = password): Promise<Login> => {
    const response = await control.call('POST /api/session', { body: { email, password: pass } })
    expect(expectError(response, 403).code).toBe('second_factor_required')
    return { cookie: readCookie(response) }
  }

  test('log-in has two steps, and the cookie of the first one opens nothing', async () => {
    const user = await signUp(control)
    const { secret, factor, recoveryCodes } = await addApp(user)
    expect(factor).toMatchObject({ kind: 'totp', label: 'App', usedAt: null })
    const response = await control.call('POST /api/session', { body: { email: user.email, password } })
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^keyrail-log-in=usr_[\w.-]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/),
    ])
    const pending = { cookie: readCookie(response) }
    const stolen = pending.cookie.replace('keyrail-log-in=', 'keyrail-session=')
    for (const as of [pending, { cookie: stolen }]) {
      expect((await control.call('GET /api/session', { as })).status).toBe(401)
      expect((await control.call('GET /api/apps', { as })).status).toBe(401)
    }
    expect(
      expectBody<FactorOptionsView>(await control.call('POST /api/session/second-factor/options', { as: pending })),
    ).toEqual({ kinds: ['totp'], passkey: null })
    const code = getAppCode(secret, control.clock.now)
    const finished = await control.call('POST /api/session/second-factor', { as: pending, body: { code } })
    const { account, session } = expectBody<SessionView>(finished)
    expect(account).toMatchObject({ email: user.email, hasSecondFactor: true })
    expect(Date.parse(session?.confirmedUntil ?? '')).toBe(control.clock.now + 10 * minute)
    expect(finished.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^keyrail-session=[\w-]{43}; /),
      expect.stringMatching(/^keyrail-log-in=; .*Expires=Thu, 01 Jan 1970/),
    ])
    const again = await control.call('POST /api/session/second-factor', {
      as: pending,
      body: { code: recoveryCodes?.[0] ?? '' },
    })
    expect(expectError(again, 403).code).toBe('log_in_expired')
  })

  test('changes of members need a factor that was proved in the last 10 minutes', async () => {
    const [owner, member] = [await signUp(control), await signUp(control)]
    const { secret, as: session } = await addApp(owner)
    const created = await control.call('POST /api/accounts', { as: session, body: { name: 'Acme' } })
    const { id: account } = expectBody<ActingAccountView>(created, 201)
    await addMember(control, account, { id: member.id, role: 'viewer' })
    const as = { ...session, account }
    const params = { userId: member.id }
    const change = async () => [
      await control.call('PUT /api/members/{userId}/role', { as, params, body: { role: 'developer', password } }),
      await control.call('POST /api/members/invites', { as, body: { email: newEmail(), role: 'viewer', password } }),
      await control.call('POST /api/members/{userId}/remove', { as, params, body: { password } }),
    ]
    control.clock.now += 10 * minute
    for (const response of await change())
      expect(expectError(response, 403).code).toBe('second_factor_confirm_required')
    expect(await control.storage.members.list(account)).toHaveLength(2)
    const code = getAppCode(secret, control.clock.now)
    expectBody(await control.call('POST /api/session/confirm', { as: session, body: { code } }))
    expect((await change()).map(({ status }) => status)).toEqual([204, 201, 204])
  })

  test('a team can require a factor of its members, which affects no other account', async () => {
    const [owner, member] = [await signUp(control), await signUp(control)]
    const created = await control.call('POST /api/accounts', { as: owner.as, body: { name: 'Acme' } })
    const { id: account, membersNeedSecondFactor } = expectBody<ActingAccountView>(created, 201)
    expect(membersNeedSecondFactor).toBe(false)
    await addMember(control, account, { id: member.id, role: 'owner' })
    const inTeam = { ...member.as, account }
    const token = await createToken(control, { ...member, as: inTeam }, ['read', 'members'])
    const set = (as: Login, on: boolean) =>
      control.call('PUT /api/team/rules', { as: { ...as, account }, body: { membersNeedSecondFactor: on, password } })
    // Otherwise nobody could turn it off again.
    expect(expectError(await set(owner.as, true), 403).code).toBe('second_factor_missing')
    const { secret, as } = await addApp(owner)
    await control.storage.members.setRole({ accountId: account, userId: member.id, role: 'admin' })
    expect(expectError(await set(member.as, false), 403).code).toBe('role_required')
    expect(expectBody<ActingAccountView>(await set(as, true))).toMatchObject({
      id: account,
      membersNeedSecondFactor: true,
    })

    const { app } = expectBody<{ app: AppView }>(
      await control.call('POST /api/apps', { as: member.as, body: createAppBody() }),
      201,
    )
    const transfer = () =>
      control.call('POST /api/apps/{appId}/transfer', {
        as: member.as,
        params: { appId: app.id },
        body: { accountId: account, password },
      })
    for (const response of [
      await control.call('GET /api/apps', { as: inTeam }),
      await control.call('GET /api/members', { as: inTeam }),
      await control.call('POST /api/members/{userId}/remove', {
        as: inTeam,
        params: { userId: owner.id },
        body: { password },
      }),
      await control.call('GET /api/members', { as: token }),
      await transfer(),
    ])
      expect(expectError(response, 403).code).toBe('second_factor_missing')
    const session = expectBody<SessionView>(await control.call('GET /api/session', { as: inTeam }))
    expect(session).toMatchObject({ secondFactorMissing: true, actingFor: { id: account } })
    // The own account, other members, and other accounts of the team's owner.
    expectBody(await control.call('GET /api/apps', { as: member.as }))
    expect(expectBody<SessionView>(await control.call('GET /api/session', { as: member.as }))).toMatchObject({
      secondFactorMissing: false,
      actingFor: { membersNeedSecondFactor: false },
    })
    expectBody(await control.call('GET /api/apps', { as: { ...as, account } }))

    const { as: proved } = await addApp(member)
    expectBody(await control.call('GET /api/apps', { as: { ...proved, account } }))
    expectBody(await control.call('GET /api/members', { as: token }))
    const moved = await control.call('POST /api/apps/{appId}/transfer', {
      as: proved,
      params: { appId: app.id },
      body: { accountId: account },
    })
    expect(moved.status).toBe(204)

    // Turning it off is a sensitive change too, and both are in the audit log.
    control.clock.now += 10 * minute
    expect(expectError(await set(as, false), 403).code).toBe('second_factor_confirm_required')
    const code = getAppCode(secret, control.clock.now)
    expectBody(await control.call('POST /api/session/confirm', { as, body: { code } }))
    expectBody(await set(as, false))
    expect(await control.storage.auditLog.list({ userId: account, action: 'team.rules', limit: 5 })).toMatchObject([
      { actor: owner.id, detail: { membersNeedSecondFactor: false } },
      { actor: owner.id, detail: { membersNeedSecondFactor: true } },
    ])
  })

  test('another browser, another site, and a request without a proof cannot finish a log-in', async () => {
    const user = await signUp(control)
    const { recoveryCodes } = await addApp(user)
    const pending = await startLogIn(user.email)
    const body = { code: recoveryCodes?.[0] ?? '' }
    const elsewhere = await control.call('POST /api/session/second-factor', { body })
    expect(expectError(elsewhere, 403).code).toBe('log_in_expired')
    const crossSite = await control.call('POST /api/session/second-factor', {
      as: pending,
      body,
      headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    })
    expect(expectError(crossSite, 403).code).toBe('cross_site')
    for (const wrong of [
      {},
      { ...body, passkey: { id: 'YQ', clientDataJSON: 'YQ', authenticatorData: 'YQ', signature: 'YQ' } },
    ]) {
      const invalid = await control.call('POST /api/session/second-factor', { as: pending, body: wrong })
      expect(expectError(invalid, 422).message).toContain('must have either code or passkey')
    }
    expectBody(await control.call('POST /api/session/second-factor', { as: pending, body }))
  })

  test('the session that was open ends when another log-in is finished, not before', async () => {
    const [ann, bob] = [await signUp(control), await signUp(control)]
    const { recoveryCodes } = await addApp(bob)
    const pending = await startLogIn(bob.email)
    expectBody(await control.call('GET /api/session', { as: ann.as }))
    const both = 'cookie' in ann.as && 'cookie' in pending ? { cookie: `${ann.as.cookie}; ${pending.cookie}` } : pending
    expectBody(
      await control.call('POST /api/session/second-factor', { as: both, body: { code: recoveryCodes?.[0] ?? '' } }),
    )
    expect((await control.call('GET /api/session', { as: ann.as })).status).toBe(401)
  })

  test('sensitive requests need a proof of the last 10 minutes, and the password does not replace it', async () => {
    const user = await signUp(control)
    const { app, key } = await createFixture(control, user)
    const { secret, factor, as } = await addApp(user)
    control.clock.now += 10 * minute
    const label = 'New'
    const totp = { setup: 'c2V0dXA', code: '123456' }
    const send = async (): Promise<readonly (string | undefined)[]> => {
      const responses = [
        await control.call('POST /api/apps/{appId}/key/reveal', { as, params: { appId: app.id }, body: { password } }),
        await control.call('POST /api/keys/{keyId}/reveal', { as, params: { keyId: key.id }, body: { password } }),
        await control.call('POST /api/tokens', { as, body: { label, scopes: ['read'], expiresAt: null, password } }),
        await control.call('POST /api/account/factors/options', { as, body: { password } }),
        await control.call('POST /api/account/factors', { as, body: { label, totp, password } }),
        await control.call('POST /api/account/recovery-codes', { as, body: { password } }),
        await control.call('POST /api/account/factors/{factorId}/remove', {
          as,
          params: { factorId: factor.id },
          body: { password },
        }),
        await control.call('POST /api/account/password', { as, body: { current: 'wrong', next: 'another long one' } }),
        await control.call('POST /api/account/delete', { as, body: { password: 'wrong' } }),
      ]
      return responses.map(({ body }) => (body as { error?: { code: string } } | undefined)?.error?.code)
    }
    expect(new Set(await send())).toEqual(new Set(['second_factor_confirm_required']))
    expect(
      expectBody<FactorOptionsView>(await control.call('POST /api/session/confirm/options', { as })).kinds,
    ).toContain('totp')
    const wrong = await control.call('POST /api/session/confirm', { as, body: { code: 'not this one' } })
    expect(expectError(wrong, 403).code).toBe('second_factor_wrong')
    const code = getAppCode(secret, control.clock.now)
    const confirmed = expectBody<SessionView>(await control.call('POST /api/session/confirm', { as, body: { code } }))
    expect(Date.parse(confirmed.session?.confirmedUntil ?? '')).toBe(control.clock.now + 10 * minute)
    expect(await send()).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'second_factor_wrong',
      undefined,
      undefined,
      'wrong_password',
      'wrong_password',
    ])
  })

  test('access tokens and keys work as before', async () => {
    const user = await signUp(control)
    const { token, appKey } = await createFixture(control, user)
    await addApp(user)
    expectBody(await control.call('GET /api/apps', { as: token }))
    expect(expectError(await control.call('GET /api/account/factors', { as: token }), 403).code).toBe(
      'session_required',
    )
    expect(await control.keys.find(hashApiKey(appKey))).toBeDefined()
  })

  test('if one is required, a session without one can only add one', async () => {
    const [user, operator] = [await signUp(control), await signUpOperator(control)]
    const token = await createToken(control, user, ['read'])
    try {
      control.config.requireSecondFactor = 'operators'
      expect(expectBody<DeploymentView>(await control.call('GET /api/deployment')).requireSecondFactor).toBe(
        'operators',
      )
      expectBody(await control.call('GET /api/apps', { as: user.as }))
      expect(expectError(await control.call('GET /api/apps', { as: operator.as }), 403).code).toBe(
        'second_factor_missing',
      )
      expect(expectError(await control.call('GET /api/admin/overview', { as: operator.as }), 403).code).toBe(
        'second_factor_missing',
      )
      expectBody(await control.call('GET /api/admin/overview', { as: { bearer: control.operatorToken } }))
      control.config.requireSecondFactor = 'all'
      expect(expectError(await control.call('GET /api/apps', { as: user.as }), 403).code).toBe('second_factor_missing')
      expectBody(await control.call('GET /api/apps', { as: token }))
      const { secondFactorMissing } = expectBody<SessionView>(await control.call('GET /api/session', { as: user.as }))
      expect(secondFactorMissing).toBe(true)
      const { as: proved } = await addApp(user)
      expectBody(await control.call('GET /api/apps', { as: proved }))
      expect(expectBody<SessionView>(await control.call('GET /api/session', { as: proved }))).toMatchObject({
        secondFactorMissing: false,
      })
      const { as } = await signUp(control)
      expect((await control.call('DELETE /api/session', { as })).status).toBe(204)
    } finally {
      delete control.config.requireSecondFactor
    }
  })

  test('an operator resets the factors of a user, with a fresh confirmation', async () => {
    const [user, operator] = [await signUp(control), await signUpOperator(control)]
    const { as } = await addApp(user)
    const params = { userId: user.id }
    const shown = expectBody<UserView>(await control.call('GET /api/admin/users/{userId}', { as: operator.as, params }))
    expect(shown.hasSecondFactor).toBe(true)
    control.clock.now += 15 * minute
    const route = 'POST /api/admin/users/{userId}/second-factor/reset'
    expect(expectError(await control.call(route, { as: operator.as, params, body: {} }), 403).code).toBe(
      'confirm_required',
    )
    control.inbox.isOn = true
    const reset = expectBody<UserView>(await control.call(route, { as: operator.as, params, body: { password } }))
    expect(reset.hasSecondFactor).toBe(false)
    expect((await control.inbox.next()).to).toBe(user.email)
    control.inbox.isOn = false
    expect((await control.call('GET /api/session', { as })).status).toBe(401)
    expectBody(await control.call('POST /api/session', { body: { email: user.email, password } }))
    expectBody(await control.call(route, { as: { bearer: control.operatorToken }, params, body: {} }))
  })

  test("an operator's session needs a proof of the last 10 minutes to change who can log in", async () => {
    const [user, operator] = [await signUp(control), await signUpOperator(control)]
    const { secret, as } = await addApp(operator)
    const params = { userId: user.id }
    const send = async (given: Login) => {
      const responses = [
        await control.call('POST /api/admin/users/{userId}/reset-link', { as: given, params, body: {} }),
        await control.call('POST /api/admin/users/{userId}/disable', { as: given, params, body: {} }),
        await control.call('POST /api/admin/users/{userId}/enable', { as: given, params, body: {} }),
        await control.call('POST /api/admin/invites', { as: given, body: {} }),
      ]
      return responses.map(({ body }) => (body as { error?: { code: string } }).error?.code)
    }
    control.clock.now += 10 * minute
    expect(new Set(await send(as))).toEqual(new Set(['second_factor_confirm_required']))
    const code = getAppCode(secret, control.clock.now)
    expectBody(await control.call('POST /api/session/confirm', { as, body: { code } }))
    for (const confirmed of [as, { bearer: control.operatorToken }])
      expect(new Set(await send(confirmed))).toEqual(new Set([undefined]))
  })

  test('a passkey logs in at the host that the browser uses', async () => {
    const site = control.url.replace('127.0.0.1', 'localhost')
    const headers = { host: new URL(site).host, origin: site, 'sec-fetch-site': 'same-origin' }
    const user = await signUp(control)
    const device = createSoftAuthenticator({ site })
    const { passkey } = expectBody<NewFactorOptionsView>(
      await control.call('POST /api/account/factors/options', { as: user.as, headers, body: {} }),
    )
    const body = { label: 'Laptop', passkey: device.create(passkey) }
    const added = await control.call('POST /api/account/factors', { as: user.as, headers, body })
    expectBody(added, 201)
    const as = { cookie: readCookie(added) }
    expect((await control.call('GET /api/session', { as: user.as, headers })).status).toBe(401)
    const list = expectBody<FactorsView>(await control.call('GET /api/account/factors', { as, headers }))
    expect(list).toMatchObject({ items: [{ kind: 'passkey', label: 'Laptop' }], recoveryCodes: 10 })
    const started = await control.call('POST /api/session/passkey/options', { headers })
    const options = expectBody<{ passkey: Readonly<Record<string, unknown>> }>(started).passkey
    const response = device.get(options)
    const cookie = { cookie: readCookie(started) }
    // At the other host, its origin is a foreign one.
    const foreign = await control.call('POST /api/session/passkey', { as: cookie, body: { passkey: response } })
    expect(expectError(foreign, 403).code).toBe('second_factor_wrong')
    const logged = await control.call('POST /api/session/passkey', { as: cookie, headers, body: { passkey: response } })
    expect(expectBody<SessionView>(logged).account.email).toBe(user.email)
    // Malformed responses are rejected, not failures of the service.
    for (const name of ['clientDataJSON', 'authenticatorData', 'signature'] as const) {
      const next = await control.call('POST /api/session/passkey/options', { headers })
      const broken = {
        ...device.get(expectBody<typeof list & { passkey: typeof options }>(next).passkey),
        [name]: 'AAAA',
      }
      const result = await control.call('POST /api/session/passkey', {
        as: { cookie: readCookie(next) },
        headers,
        body: { passkey: broken },
      })
      expect(expectError(result, 403).code).toBe('second_factor_wrong')
    }
  })

  test('no response or log entry contains a secret that was sent', async () => {
    const user = await signUp(control)
    const { secret, recoveryCodes, as } = await addApp(user)
    const [from, logsFrom] = [control.seen.length, control.logs.length]
    const pending = await startLogIn(user.email)
    const [code = ''] = recoveryCodes ?? []
    expectBody(await control.call('POST /api/session/second-factor', { as: pending, body: { code } }))
    const { recoveryCodes: renewed } = expectBody<RecoveryCodesView>(
      await control.call('POST /api/account/recovery-codes', { as, body: {} }),
    )
    await control.call('GET /api/account/factors', { as })
    await control.call('GET /api/audit-log', { as, query: {} })
    const seen = control.seen.slice(from)
    for (const hidden of [secret, code, ...(recoveryCodes ?? [])]) expect(seen.join('\n')).not.toContain(hidden)
    expect(seen.filter((one) => one.includes(renewed[0] ?? ''))).toHaveLength(1)
    expect(JSON.stringify(control.logs.slice(logsFrom))).not.toContain(code)
  })
})
