import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RouteName } from '../../src/control/contract/routeName.ts'
import { isTokenScope } from '../../src/control/roles.ts'
import { routeNames, getRoute } from '../../src/control/routes.ts'
import type { TestDatabase } from '../storage/databases.ts'
import { readStored } from './readStored.ts'
import { validInputs } from './validInputs.ts'
import { startControl } from './startControl.ts'
import type { TestResponse, Login, Sent, StartedControl } from './startControl.ts'
import { createFixture, getOwner, getPathId, getToken, signUpOperator } from './accountFixture.ts'
import type { TestUser, AccountFixture } from './accountFixture.ts'

// Requests every route with ids of other users. The routes come from the table, so new routes are covered automatically. A new kind of id
// fails until it is added to `getPathId`.

const parameterNames = (route: RouteName): string[] => [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
const routesWithIds = routeNames.filter((route) => parameterNames(route).length > 0)
const kinds = [...new Set(routesWithIds.flatMap(parameterNames))]
const operatorRoutes = routesWithIds.filter((route) => getRoute(route).access === 'operator')
const userRoutes = routesWithIds.filter((route) => getRoute(route).access !== 'operator')

/** Whether two ids have the same prefix. */
const sameKind = (one: string, other: string): boolean => one.split('_', 1)[0] === other.split('_', 1)[0]

/** All combinations that take each parameter's id from one of several fixtures. */
const choices = (names: readonly string[], fixtures: readonly AccountFixture[]): Record<string, AccountFixture>[] =>
  names.reduce<Record<string, AccountFixture>[]>(
    (all, name) => all.flatMap((chosen) => fixtures.map((fixture) => ({ ...chosen, [name]: fixture }))),
    [{}],
  )

/**
 * Requests every route with the ids of other users.
 */
export const testForeignIds = (database: TestDatabase): void => {
  describe(`ids of other users on ${database.name}`, () => {
    test('every kind of id occurs in a path', () => {
      expect(kinds).toHaveLength(12)
      expect(userRoutes.length).toBeGreaterThan(20)
      expect(operatorRoutes.length).toBeGreaterThan(4)
    })

    let control: StartedControl
    let victim: AccountFixture
    let attacker: AccountFixture
    /** A second fixture of the attacker, with another app, another key and so on. */
    let second: AccountFixture
    let operator: TestUser
    beforeAll(async () => {
      control = await startControl(database)
      victim = await createFixture(control)
      attacker = await createFixture(control)
      second = await createFixture(control, attacker.user)
      operator = await signUpOperator(control)
    })
    afterAll(async () => {
      await control.close()
      await database.stop()
    })

    const stored = (): Promise<string> => readStored(control.storage)

    /** Calls a route with these ids. The rest of the request is valid for the owner. */
    const call = async (route: RouteName, params: Record<string, string>, as: Login): Promise<TestResponse> => {
      // An account may make two changes per second.
      control.clock.now += 500
      return control.call(route, { ...validInputs[route](victim), params, as } as Sent<RouteName>)
    }
    /** Makes all requests. @returns Those with another status or with the owner's email address in the response, and whether stored data changed. */
    const tryAll = async (
      route: RouteName,
      status: number,
      tried: readonly { readonly params: Record<string, string>; readonly as: Login }[],
    ): Promise<{ wrong: readonly unknown[]; changed: boolean }> => {
      const before = await stored()
      const wrong: unknown[] = []
      for (const { params, as } of tried) {
        const { status: actual, text } = await call(route, params, as)
        if (actual !== status || text.includes(victim.user.email)) wrong.push([params, actual])
      }
      return { wrong, changed: (await stored()) !== before }
    }
    const nothing = { wrong: [], changed: false }
    const paramsFrom = (route: RouteName, chosen: Record<string, AccountFixture>): Record<string, string> =>
      Object.fromEntries(Object.entries(chosen).map(([name, fixture]) => [name, getPathId(route, name, fixture)]))
    const isOneFixture = (chosen: Record<string, AccountFixture>, own: readonly AccountFixture[]): boolean => {
      const [first, ...others] = Object.values(chosen)
      return first !== undefined && own.includes(first) && others.every((fixture) => fixture === first)
    }

    test.each(userRoutes)('%s', async (route) => {
      // Ids of another user, combined with own ids, and own ids from different fixtures.
      const foreign = choices(parameterNames(route), [victim, attacker, second]).filter(
        (chosen) => !isOneFixture(chosen, [attacker, second]),
      )
      const { access } = getRoute(route)
      const { as } = getOwner(route, attacker)
      const logins: Login[] = [as, ...(isTokenScope(access) ? [getToken(route, attacker)] : [])]
      // Operators have no access to other users' objects either.
      logins.push(as.account === undefined ? operator.as : { ...operator.as, account: as.account })
      const tried = foreign.flatMap((chosen) => logins.map((as) => ({ params: paramsFrom(route, chosen), as })))
      expect(await tryAll(route, 404, tried)).toEqual(nothing)
    })

    test.each(routesWithIds)('%s with an own id of another kind', async (route) => {
      const as = getRoute(route).access === 'operator' ? operator.as : getOwner(route, attacker).as
      const names = parameterNames(route)
      const last = names.at(-1) ?? ''
      const own = getPathId(route, last, attacker)
      const others = kinds.map((name) => getPathId(route, name, attacker)).filter((id) => !sameKind(id, own))
      const odd = ['%', '*', "' or 1=1 --", 'null', 'x'.repeat(200)]
      const tried = [...others, ...odd].map((id) => {
        const params = Object.fromEntries(names.map((name) => [name, getPathId(route, name, attacker)]))
        return { params: { ...params, [last]: id }, as }
      })
      expect(await tryAll(route, 404, tried)).toEqual(nothing)
    })

    test.each(operatorRoutes)('%s by a user who is not an operator', async (route) => {
      const tried = choices(parameterNames(route), [victim, attacker]).flatMap((chosen) =>
        [attacker.user.as, attacker.token].map((as) => ({ params: paramsFrom(route, chosen), as })),
      )
      expect(await tryAll(route, 403, tried)).toEqual(nothing)
    })

    test('the owner still has access to all of them', async () => {
      for (const route of userRoutes.filter((name) => name.startsWith('GET '))) {
        const params = Object.fromEntries(parameterNames(route).map((name) => [name, getPathId(route, name, victim)]))
        expect([route, (await call(route, params, getOwner(route, victim).as)).status]).toEqual([route, 200])
      }
    })

    test("a cursor from another user's page does not show that user's data", async () => {
      for (const route of ['GET /api/apps', 'GET /api/audit-log'] as const) {
        const first = await control.call(route, { as: second.user.as, query: { limit: 1 } })
        const cursor = (first.body as { next: string | null }).next
        expect(cursor).not.toBeNull()
        const page = await control.call(route, { as: victim.user.as, query: { cursor: cursor ?? '' } })
        expect(page.text).not.toContain(attacker.userId)
        expect(page.text).not.toContain(attacker.app.id)
        expect(page.text).not.toContain(second.app.id)
      }
    })
  })
}
