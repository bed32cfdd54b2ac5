import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenScopes } from '../../src/control/contract/accessToken.ts'
import type { TokenScope } from '../../src/control/contract/accessToken.ts'
import type { ApiErrorView } from '../../src/control/contract/apiError.ts'
import type { RouteName } from '../../src/control/contract/route.ts'
import { routeNames, routeOf } from '../../src/control/contract/routes.ts'
import type { TestDatabase } from '../storage/databases.ts'
import { answerFaults } from './checkAnswer.ts'
import { goodInputs } from './goodInputs.ts'
import { startControl } from './startControl.ts'
import type { Answered, Login, Sent, StartedControl } from './startControl.ts'
import { createToken, createWorld, password, signUp, signUpOperator } from './world.ts'
import type { Person, World } from './world.ts'

const isScope = (who: string): who is TokenScope => tokenScopes.some((scope) => scope === who)

/**
 * Checks of every route who may call it, and that its responses are as documented.
 */
export const testRouteTable = (database: TestDatabase): void => {
  describe(`every route on ${database.name}`, () => {
    let control: StartedControl
    let stranger: World
    let shared: World
    let operator: Person
    beforeAll(async () => {
      control = await startControl(database)
      stranger = await createWorld(control)
      shared = await createWorld(control)
      operator = await signUpOperator(control)
    })
    afterAll(async () => {
      await control.close()
      await database.stop()
    })

    /** Each made once: an account has 20 at most. */
    const tokens = new Map<string, Promise<Login>>()
    const tokenOf = (person: Person, scopes: readonly TokenScope[]): Promise<Login> => {
      const name = `${person.id} ${scopes.join()}`
      const token = tokens.get(name) ?? createToken(control, person, scopes)
      tokens.set(name, token)
      return token
    }

    const ask = async (
      name: RouteName,
      world: World,
      { as, headers }: { as?: Login | undefined; headers?: Readonly<Record<string, string | undefined>> } = {},
    ): Promise<Answered> => {
      const sent = { ...goodInputs[name](world), as, ...(headers === undefined ? {} : { headers }) }
      const answered = await control.call(name, sent as Sent<RouteName>)
      expect(answerFaults(name, answered)).toEqual([])
      return answered
    }

    /** Asks what must be answered: and then what changed is noted, and what keys may do is forgotten where it was remembered. */
    const succeed = async (name: RouteName, world: World, as: Login | undefined): Promise<void> => {
      const [seq, told] = [await control.storage.changes.seq(), control.told.length]
      const [last] = await control.storage.auditLog.list({ limit: 1 })
      expect((await ask(name, world, { as })).status).toBe(routeOf(name).status)
      const { changed } = await control.storage.changes.since(seq)
      expect(control.told.slice(told)).toEqual(changed)
      const [newest] = await control.storage.auditLog.list({ limit: 1 })
      const noted = !name.startsWith('GET') && name !== 'POST /api/apps/{appId}/jwt-keys/test'
      expect(newest?.id !== last?.id).toBe(noted)
    }

    test.each(routeNames)('%s', async (name) => {
      const { who, status } = routeOf(name)
      const writes = !name.startsWith('GET')
      // What only reads leaves everything as it is.
      const world = writes ? await createWorld(control) : shared
      const own = world.person.as
      const rejected = async (
        as: Login | undefined,
        expected: number,
        headers?: Readonly<Record<string, string | undefined>>,
      ): Promise<void> => {
        expect((await ask(name, world, { as, ...(headers === undefined ? {} : { headers }) })).status).toBe(expected)
      }

      // Nothing here may depend on what another has changed: what is rejected changes nothing.
      if (who !== 'anyone') {
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

      if (isScope(who)) {
        const others = tokenScopes.filter((scope) => scope !== who)
        await rejected(await tokenOf(world.person, others), 403)
        await rejected({ bearer: control.operatorToken }, 403)
        const ofStranger = name.includes('{') ? 404 : status
        expect((await ask(name, world, { as: stranger.token })).status).toBe(ofStranger)
        if (name.includes('{')) await rejected(stranger.person.as, 404)
        const scoped = writes ? await createWorld(control) : shared
        await succeed(name, scoped, await tokenOf(scoped.person, [who]))
      }
      if (who === 'session') {
        await rejected(world.token, 403)
        await rejected({ bearer: control.operatorToken }, 403)
        if (name.includes('{')) await rejected(stranger.person.as, 404)
      }
      if (who === 'operator') {
        await rejected(own, 403)
        await rejected(world.token, 403)
        await rejected(await tokenOf(operator, tokenScopes), 403)
        await succeed(name, writes ? await createWorld(control) : shared, { bearer: control.operatorToken })
      }
      const as = who === 'operator' ? operator.as : who === 'anyone' ? undefined : own
      await succeed(name, world, as)
    })

    test.each(routeNames.filter((name) => routeOf(name).confirms))(
      '%s asks a session of 15 minutes for the password, before all else',
      async (name) => {
        const { person } = await createWorld(control)
        const { body, ...given } = goodInputs[name](stranger) as { body: object; params?: object }
        const send = async (password?: string): Promise<unknown> => {
          const sent = { ...given, body: { ...body, password }, as: person.as }
          return ((await control.call(name, sent as Sent<RouteName>)).body as Partial<ApiErrorView>).error?.code
        }
        control.clock.now += 15 * 60_000
        expect(await send()).toBe('confirm_required')
        expect(await send('not this one')).toBe('wrong_password')
        expect(await send(password)).toBe(name.includes('{') ? 'not_found' : undefined)
      },
    )

    test('no route but those of the table is there', async () => {
      const { as } = await signUp(control)
      for (const path of ['/api', '/api/', '/api/apps/', '/api/nothing', '/api/apps/app_1/nothing', '/api//apps'])
        expect((await control.raw(path, { headers: { cookie: 'cookie' in as ? as.cookie : '' } })).status).toBe(404)
      const other = await control.raw('/api/apps', { method: 'DELETE' })
      expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, POST'])
      const preflight = await control.raw('/api/apps', {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      })
      expect(preflight.status).toBe(405)
      expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
    })
  })
}
