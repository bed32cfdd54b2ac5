import type { z } from 'zod'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiErrorView } from '../../src/control/contract/apiError.ts'
import type { RouteName } from '../../src/control/contract/route.ts'
import { routeNames, routeOf } from '../../src/control/contract/routes.ts'
import { databases } from '../storage/databases.ts'
import { answerFaults } from './checkAnswer.ts'
import { goodInputs } from './goodInputs.ts'
import { startControl } from './startControl.ts'
import type { Answered, Login, StartedControl } from './startControl.ts'
import { createWorld, signUpOperator } from './world.ts'
import type { Person, World } from './world.ts'

const [database] = databases
if (database === undefined) throw new Error('there is no database to test with')

let control: StartedControl
let world: World
let operator: Person
beforeAll(async () => {
  control = await startControl(database)
  world = await createWorld(control)
  operator = await signUpOperator(control)
})
afterAll(async () => {
  await control.close()
  await database.stop()
})

/** Calls a route with a good input and with this query. */
const call = async (name: RouteName, query: string): Promise<Answered> => {
  const [method = '', template = ''] = name.split(' ')
  const { params, body } = goodInputs[name](world) as { params?: Record<string, string>; body?: unknown }
  const path = template.replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(params?.[part] ?? ''))
  const { who } = routeOf(name)
  const login: Login | undefined = who === 'anyone' ? undefined : who === 'operator' ? operator.as : world.person.as
  const answered = await control.raw(`${path}?${query}`, {
    method,
    headers: {
      ...(login !== undefined && 'cookie' in login ? { cookie: login.cookie } : {}),
      ...(method === 'GET'
        ? {}
        : { 'content-type': 'application/json', origin: control.url, 'sec-fetch-site': 'same-origin' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(answerFaults(name, answered)).toEqual([])
  return answered
}

const fieldsOf = ({ status, body }: Answered): readonly unknown[] => {
  const { error } = body as ApiErrorView
  return [status, error.code, error.fields]
}

/** The names of the parameters that a route takes. */
const parametersOf = (name: RouteName): string[] => {
  const { query } = routeOf(name)
  return query === undefined ? [] : Object.keys((query as z.ZodObject).shape)
}

test('there are routes with parameters', () => {
  expect(routeNames.filter((name) => parametersOf(name).length > 0).length).toBeGreaterThan(5)
})

test.each(routeNames)('%s', async (name) => {
  // Also where nothing is done with a query, and where both values are the same.
  for (const parameter of [...parametersOf(name), 'other']) {
    const fix = 'is there more than once: give it once'
    const expected = [422, 'invalid', [{ field: parameter, fix }]]
    expect(fieldsOf(await call(name, `${parameter}=a&${parameter}=b`))).toEqual(expected)
    expect(fieldsOf(await call(name, `${parameter}=1&${parameter}=1`))).toEqual(expected)
    expect(fieldsOf(await call(name, `${parameter}&x=1&${parameter}=`))).toEqual(expected)
  }
})

test.each([
  ['another spelling of one name', 'search=a&se%61rch=b', [{ field: 'search', fix: expect.any(String) }]],
  ['three of them', 'limit=1&limit=2&limit=3', [{ field: 'limit', fix: expect.any(String) }]],
  [
    'two parameters twice',
    'limit=1&search=a&limit=2&search=b',
    [
      { field: 'limit', fix: expect.any(String) },
      { field: 'search', fix: expect.any(String) },
    ],
  ],
  [
    'a name that may be a secret',
    'kr_a%20secret=1&kr_a%20secret=2',
    [{ field: 'query', fix: 'has a parameter more than once: give each once' }],
  ],
  ['an empty name', '=1&=2', [{ field: 'query', fix: 'has a parameter more than once: give each once' }]],
  ['a name of JavaScript', '__proto__=1&__proto__=2', [{ field: '__proto__', fix: expect.any(String) }]],
])('%s', async (_, query, fields) => {
  const answered = await call('GET /api/apps', query)
  expect(fieldsOf(answered)).toEqual([422, 'invalid', fields])
  expect(answered.text).not.toContain('secret')
})

test('parameters that are there once are taken', async () => {
  expect((await call('GET /api/apps', 'search=a&limit=2')).status).toBe(200)
  expect((await call('GET /api/apps', 'search=a%26search%3Db')).status).toBe(200)
})
