import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RouteName } from '../../src/control/contract/route.ts'
import { routeNames, routeOf } from '../../src/control/contract/routes.ts'
import type { Tables } from '../../src/storage/tables.ts'
import type { TestDatabase } from '../storage/databases.ts'
import { goodInputs } from './goodInputs.ts'
import { startControl } from './startControl.ts'
import type { Answered, Login, Sent, StartedControl } from './startControl.ts'
import { createWorld, signUpOperator } from './world.ts'
import type { Person, World } from './world.ts'

// Every id in a path is tried by someone whose id it is not. The routes come from the table, so a new route is covered as soon as it is there;
// a new kind of id does not pass before it has a line in `idsOf`.

/** The id of a world for each name in a path. */
const idsOf: Readonly<Record<string, (world: World) => string>> = {
  appId: ({ app }) => app.id,
  entryId: ({ entryId }) => entryId,
  kid: ({ kid }) => kid,
  keyId: ({ key }) => key.id,
  tokenId: ({ tokenId }) => tokenId,
  userId: ({ userId }) => userId,
  inviteId: ({ inviteId }) => inviteId,
}
const idOf = (name: string, world: World): string => {
  const find = idsOf[name]
  if (find === undefined) throw new Error(`the path has a new id, {${name}}: add it to idsOf`)
  return find(world)
}

const namesIn = (route: RouteName): string[] => [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
const routesWithIds = routeNames.filter((route) => namesIn(route).length > 0)
const ofOperators = routesWithIds.filter((route) => routeOf(route).who === 'operator')
const ofUsers = routesWithIds.filter((route) => routeOf(route).who !== 'operator')

/** Every way to take each name's id from one of several worlds. */
const choices = (names: readonly string[], worlds: readonly World[]): Record<string, World>[] =>
  names.reduce<Record<string, World>[]>(
    (all, name) => all.flatMap((chosen) => worlds.map((world) => ({ ...chosen, [name]: world }))),
    [{}],
  )

// What a request changes by itself: when a session and a token were last used, and what is counted for all.
const tables = [
  'users',
  'apps',
  'removedApps',
  'allowEntries',
  'jwtKeys',
  'keys',
  'invites',
  'oneTimeLinks',
  'leftUsers',
  'auditLog',
  'changes',
] as const satisfies readonly (keyof Tables)[]

/**
 * Tries the ids of other users on every route.
 */
export const testForeignIds = (database: TestDatabase): void => {
  describe(`ids of others on ${database.name}`, () => {
    test('every kind of id is in a path', () => {
      expect(new Set(routesWithIds.flatMap(namesIn))).toEqual(new Set(Object.keys(idsOf)))
      expect(ofUsers.length).toBeGreaterThan(20)
      expect(ofOperators.length).toBeGreaterThan(4)
    })

    let control: StartedControl
    let victim: World
    let attacker: World
    /** Also the attacker's: with another app, another key and so on. */
    let second: World
    let operator: Person
    beforeAll(async () => {
      control = await startControl(database)
      victim = await createWorld(control)
      attacker = await createWorld(control)
      second = await createWorld(control, attacker.person)
      operator = await signUpOperator(control)
    })
    afterAll(async () => {
      await control.close()
      await database.stop()
    })

    /** All that is stored, but for times of use. */
    const stored = async (): Promise<string> => {
      const { query } = control.storage.db
      const rows: unknown[] = []
      for (const table of tables) rows.push(await query.selectFrom(table).selectAll().execute())
      rows.push(await query.selectFrom('sessions').select(['sha256', 'userId', 'createdAt']).execute())
      rows.push(
        await query.selectFrom('accessTokens').select(['id', 'userId', 'scopes', 'label', 'expiresAt']).execute(),
      )
      // PostgreSQL gives rows in another order once one was updated.
      return JSON.stringify(rows.map((table) => (table as unknown[]).map((row) => JSON.stringify(row)).sort()))
    }

    /** Calls a route with these ids; all else that is sent is as its owner would send it. */
    const call = async (route: RouteName, params: Record<string, string>, as: Login): Promise<Answered> => {
      // An account may make two changes a second.
      control.clock.now += 500
      return control.call(route, { ...goodInputs[route](victim), params, as } as Sent<RouteName>)
    }
    /** Tries all of these. @returns Those that were not answered with the status or showed whose they are, and whether anything stored changed. */
    const tryAll = async (
      route: RouteName,
      status: number,
      tried: readonly { readonly params: Record<string, string>; readonly as: Login }[],
    ): Promise<{ wrong: readonly unknown[]; changed: boolean }> => {
      const before = await stored()
      const wrong: unknown[] = []
      for (const { params, as } of tried) {
        const { status: actual, text } = await call(route, params, as)
        if (actual !== status || text.includes(victim.person.email)) wrong.push([params, actual])
      }
      return { wrong, changed: (await stored()) !== before }
    }
    const nothing = { wrong: [], changed: false }
    const paramsFrom = (chosen: Record<string, World>): Record<string, string> =>
      Object.fromEntries(Object.entries(chosen).map(([name, world]) => [name, idOf(name, world)]))
    const isOneWorld = (chosen: Record<string, World>, own: readonly World[]): boolean => {
      const [first, ...others] = Object.values(chosen)
      return first !== undefined && own.includes(first) && others.every((world) => world === first)
    }

    test.each(ofUsers)('%s', async (route) => {
      // Ids of another user, mixed with own ones, and own ones that do not belong together.
      const foreign = choices(namesIn(route), [victim, attacker, second]).filter(
        (chosen) => !isOneWorld(chosen, [attacker, second]),
      )
      const logins: Login[] = [attacker.person.as, ...(routeOf(route).who === 'session' ? [] : [attacker.token])]
      // An operator's account has no right to what other users own either.
      logins.push(operator.as)
      const tried = foreign.flatMap((chosen) => logins.map((as) => ({ params: paramsFrom(chosen), as })))
      expect(await tryAll(route, 404, tried)).toEqual(nothing)
    })

    test.each(routesWithIds)('%s with an own id of another kind', async (route) => {
      const as = routeOf(route).who === 'operator' ? operator.as : attacker.person.as
      const names = namesIn(route)
      const last = names.at(-1) ?? ''
      const others = Object.keys(idsOf).filter((name) => name !== last)
      const odd = ['%', '*', "' or 1=1 --", 'null', 'x'.repeat(200)]
      const tried = [...others.map((name) => idOf(name, attacker)), ...odd].map((id) => {
        const params = Object.fromEntries(names.map((name) => [name, idOf(name, attacker)]))
        return { params: { ...params, [last]: id }, as }
      })
      expect(await tryAll(route, 404, tried)).toEqual(nothing)
    })

    test.each(ofOperators)('%s by somebody who is no operator', async (route) => {
      const tried = choices(namesIn(route), [victim, attacker]).flatMap((chosen) =>
        [attacker.person.as, attacker.token].map((as) => ({ params: paramsFrom(chosen), as })),
      )
      expect(await tryAll(route, 403, tried)).toEqual(nothing)
    })

    test('the owner can still use every one of them', async () => {
      for (const route of ofUsers.filter((name) => name.startsWith('GET '))) {
        const params = Object.fromEntries(namesIn(route).map((name) => [name, idOf(name, victim)]))
        expect([route, (await call(route, params, victim.person.as)).status]).toEqual([route, 200])
      }
    })

    test('a cursor of a page of another user shows nothing of that user', async () => {
      for (const route of ['GET /api/apps', 'GET /api/audit-log'] as const) {
        const first = await control.call(route, { as: second.person.as, query: { limit: 1 } })
        const cursor = (first.body as { next: string | null }).next
        expect(cursor).not.toBeNull()
        const page = await control.call(route, { as: victim.person.as, query: { cursor: cursor ?? '' } })
        expect(page.text).not.toContain(attacker.userId)
        expect(page.text).not.toContain(attacker.app.id)
        expect(page.text).not.toContain(second.app.id)
      }
    })
  })
}
