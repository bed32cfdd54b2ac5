import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenScopes } from '../../src/control/contract/accessToken.ts'
import type { TokenScope } from '../../src/control/contract/controlApi.d.ts'
import type { ApiErrorView } from '../../src/control/contract/apiError.ts'
import type { RouteName } from '../../src/control/contract/routeName.ts'
import { isTokenScope } from '../../src/control/roles.ts'
import { routeNames, getRoute } from '../../src/control/routes.ts'
import type { TestDatabase } from '../storage/databases.ts'
import { findResponseProblems } from './findResponseProblems.ts'
import { validInputs } from './validInputs.ts'
import { startControl } from './startControl.ts'
import type { TestResponse, Login, Sent, StartedControl } from './startControl.ts'
import { createToken, createFixture, getOwner, getToken, password, signUp, signUpOperator } from './accountFixture.ts'
import type { TestUser, AccountFixture } from './accountFixture.ts'

/** Routes that exist only to send an email. Their changes are logged once the email is composed. */
const mailRoutes: ReadonlySet<RouteName> = new Set([
  'POST /api/account/sign-up-link',
  'POST /api/account/password/forgot',
  'POST /api/account/email',
])

/** Routes that change nothing of an account: a test, an email, and what a user sees. */
const unloggedRoutes: ReadonlySet<RouteName> = new Set([
  'POST /api/apps/{appId}/jwt-keys/test',
  'POST /api/account/sign-up-link',
  'PUT /api/apps/{appId}/saved-filters',
  'PUT /api/keys/{keyId}/saved-filters',
])

/** Routes that need an OpenID Connect provider: `singleSignOn.test.ts` has one. */
const providerRoutes: ReadonlySet<RouteName> = new Set([
  'POST /api/session/single-sign-on',
  'POST /api/session/single-sign-on/finish',
])

/** Routes that need a second factor: `secondFactors.test.ts` has some. */
const factorRoutes: ReadonlySet<RouteName> = new Set([
  'POST /api/session/second-factor/options',
  'POST /api/session/second-factor',
  'POST /api/session/passkey/options',
  'POST /api/session/passkey',
  'POST /api/session/confirm/options',
  'POST /api/session/confirm',
  'POST /api/account/factors/options',
  'POST /api/account/factors',
])

/** The errors of those that check more than the password. */
const factorCodes: Partial<Record<RouteName, string>> = {
  'POST /api/account/factors': 'second_factor_wrong',
}

/**
 * Checks the access rules of every route, and that its responses match the OpenAPI document.
 */
export const testRouteTable = (database: TestDatabase): void => {
  describe(`every route on ${database.name}`, () => {
    let control: StartedControl
    let other: AccountFixture
    let shared: AccountFixture
    let operator: TestUser
    beforeAll(async () => {
      control = await startControl(database)
      other = await createFixture(control)
      shared = await createFixture(control)
      operator = await signUpOperator(control)
    })
    afterAll(async () => {
      await control.close()
      await database.stop()
    })

    /** Each token is created once, because an account can have at most 20. */
    const tokens = new Map<string, Promise<Login>>()
    const createTokenOnce = (user: TestUser, scopes: readonly TokenScope[]): Promise<Login> => {
      const name = `${user.id} ${user.as.account ?? ''} ${scopes.join()}`
      const token = tokens.get(name) ?? createToken(control, user, scopes)
      tokens.set(name, token)
      return token
    }

    const request = async (
      name: RouteName,
      fixture: AccountFixture,
      { as, headers }: { as?: Login | undefined; headers?: Readonly<Record<string, string | undefined>> } = {},
    ): Promise<TestResponse> => {
      const sent = { ...validInputs[name](fixture), as, ...(headers === undefined ? {} : { headers }) }
      control.inbox.isOn = mailRoutes.has(name)
      const response = await control.call(name, sent as Sent<RouteName>)
      await control.inbox.waitUntilSent()
      control.inbox.isOn = false
      expect(findResponseProblems(name, response)).toEqual([])
      return response
    }

    /** Makes a request that must succeed, and checks its audit log entry and the invalidated keys. */
    const succeed = async (name: RouteName, fixture: AccountFixture, as: Login | undefined): Promise<void> => {
      const [position, before] = [await control.storage.changes.position(), control.forgotten.length]
      const [last] = await control.storage.auditLog.list({ limit: 1 })
      expect((await request(name, fixture, { as })).status).toBe(getRoute(name).status)
      const { changed } = await control.storage.changes.since(position)
      expect(control.forgotten.slice(before)).toEqual(changed)
      const [newest] = await control.storage.auditLog.list({ limit: 1 })
      const logged = !name.startsWith('GET') && !unloggedRoutes.has(name)
      expect(newest?.id !== last?.id).toBe(logged)
    }

    test.each(routeNames)('%s', async (name) => {
      const { access, status } = getRoute(name)
      const writes = !name.startsWith('GET')
      // Reads can share a fixture.
      const fixture = writes ? await createFixture(control) : shared
      const own = getOwner(name, fixture).as
      const rejected = async (
        as: Login | undefined,
        expected: number,
        headers?: Readonly<Record<string, string | undefined>>,
      ): Promise<void> => {
        expect((await request(name, fixture, { as, ...(headers === undefined ? {} : { headers }) })).status).toBe(
          expected,
        )
      }

      // Rejected requests change nothing, so they can all use the same fixture.
      if (access !== 'anyone') {
        await rejected(undefined, 401)
        await rejected({ cookie: 'keyrail-session=nobody' }, 401)
        await rejected({ bearer: 'krp_nobody' }, 401)
        if (writes) {
          await rejected(own, 403, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })
          await rejected(own, 403, { origin: undefined, 'sec-fetch-site': undefined })
          await rejected(own, 403, { origin: 'null' })
          await rejected(own, 415, { 'content-type': 'text/plain' })
        }
      } else if (writes) {
        await rejected(undefined, 403, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })
      }
      await rejected(own, 421, { host: 'evil.example' })

      if (providerRoutes.has(name)) return rejected(undefined, 409)
      if (isTokenScope(access)) {
        const others = tokenScopes.filter((scope) => scope !== access)
        await rejected(await createTokenOnce(getOwner(name, fixture), others), 403)
        await rejected({ bearer: control.operatorToken }, 403)
        const expectedStatus = name.includes('{') ? 404 : status
        expect((await request(name, fixture, { as: getToken(name, other) })).status).toBe(expectedStatus)
        if (name.includes('{')) await rejected(getOwner(name, other).as, 404)
        const scoped = writes ? await createFixture(control) : shared
        await succeed(name, scoped, await createTokenOnce(getOwner(name, scoped), [access]))
      }
      if (access !== 'anyone' && access !== 'operator' && !isTokenScope(access)) {
        await rejected(getToken(name, fixture), 403)
        await rejected({ bearer: control.operatorToken }, 403)
        if (name.includes('{')) await rejected(getOwner(name, other).as, 404)
      }
      if (access === 'operator') {
        await rejected(own, 403)
        await rejected(fixture.token, 403)
        await rejected(await createTokenOnce(operator, tokenScopes), 403)
        await succeed(name, writes ? await createFixture(control) : shared, { bearer: control.operatorToken })
      }
      if (factorRoutes.has(name)) return
      const as = access === 'operator' ? operator.as : access === 'anyone' ? undefined : own
      await succeed(name, fixture, as)
    })

    test.each(routeNames.filter((name) => getRoute(name).confirms === true))(
      '%s requires the password after 15 minutes, before any other check',
      async (name) => {
        const isOperator = getRoute(name).access === 'operator'
        const user = getOwner(
          name,
          await createFixture(control, isOperator ? await signUpOperator(control) : undefined),
        )
        const { body, ...given } = validInputs[name](other) as { body: object; params?: object }
        const send = async (password?: string): Promise<unknown> => {
          const sent = { ...given, body: { ...body, password }, as: user.as }
          control.inbox.isOn = mailRoutes.has(name)
          const response = await control.call(name, sent as Sent<RouteName>)
          control.inbox.isOn = false
          return (response.body as Partial<ApiErrorView> | undefined)?.error?.code
        }
        control.clock.now += 15 * 60_000
        expect(await send()).toBe('confirm_required')
        expect(await send('not this one')).toBe('wrong_password')
        const expected = factorCodes[name] ?? (name.includes('{') && !isOperator ? 'not_found' : undefined)
        expect(await send(password)).toBe(expected)
      },
    )

    test('no sensitive route accepts a session whose second factor was proved 10 minutes ago, also with the password', async () => {
      const [fixture, admin] = [await createFixture(control), await signUpOperator(control)]
      const names = routeNames.filter((name) => getRoute(name).confirms !== undefined)
      const getUser = (name: RouteName) => (getRoute(name).access === 'operator' ? admin : getOwner(name, fixture))
      for (const userId of new Set(names.map((name) => getUser(name).id))) {
        await control.storage.db.query
          .updateTable('users')
          .set({ hasSecondFactor: 1 })
          .where('id', '=', userId)
          .execute()
        for (const { hash } of await control.storage.sessions.list(userId))
          await control.storage.sessions.proveFactor(hash, control.clock.now)
      }
      control.clock.now += 10 * 60_000
      const codes = new Map<RouteName, unknown>()
      for (const name of names) {
        const { body, ...given } = validInputs[name](fixture) as { body: object; params?: object }
        const confirmed = getRoute(name).confirms === true ? { ...body, password } : body
        const sent = { ...given, body: confirmed, as: getUser(name).as }
        const response = await control.call(name, sent as Sent<RouteName>)
        codes.set(name, (response.body as Partial<ApiErrorView> | undefined)?.error?.code)
      }
      expect(Object.fromEntries(codes)).toEqual(
        Object.fromEntries(names.map((name) => [name, 'second_factor_confirm_required'])),
      )
    })

    test('there are no routes outside the table', async () => {
      const { as } = await signUp(control)
      for (const path of ['/api', '/api/', '/api/apps/', '/api/nothing', '/api/apps/app_1/nothing', '/api//apps'])
        expect((await control.raw(path, { headers: { cookie: 'cookie' in as ? as.cookie : '' } })).status).toBe(404)
      const other = await control.raw('/api/apps', { method: 'DELETE' })
      expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, POST'])
      const preview = await control.raw('/api/apps/app_1/allow-list/preview', { method: 'POST' })
      expect([preview.status, preview.headers.get('allow')]).toEqual([405, 'GET'])
      const preflight = await control.raw('/api/apps', {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      })
      expect(preflight.status).toBe(405)
      expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
    })
  })
}
