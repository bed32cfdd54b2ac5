import type { z } from 'zod'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiErrorView } from '../../src/control/contract/apiError.ts'
import type { RouteName } from '../../src/control/contract/routeName.ts'
import { routeNames, getRoute } from '../../src/control/routes.ts'
import { databases } from '../storage/databases.ts'
import { findResponseProblems } from './findResponseProblems.ts'
import { validInputs } from './validInputs.ts'
import { startControl } from './startControl.ts'
import type { TestResponse, Login, StartedControl } from './startControl.ts'
import { createFixture, signUpOperator } from './accountFixture.ts'
import type { TestUser, AccountFixture } from './accountFixture.ts'

const [database] = databases
if (database === undefined) throw new Error('no database to test with')

let control: StartedControl
let fixture: AccountFixture
let operator: TestUser
beforeAll(async () => {
  control = await startControl(database)
  fixture = await createFixture(control)
  operator = await signUpOperator(control)
})
afterAll(async () => {
  await control.close()
  await database.stop()
})

/** Calls a route with a valid input and this query. */
const call = async (name: RouteName, query: string): Promise<TestResponse> => {
  const [method = '', template = ''] = name.split(' ')
  const { params, body } = validInputs[name](fixture) as { params?: Record<string, string>; body?: unknown }
  const path = template.replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(params?.[part] ?? ''))
  const { access } = getRoute(name)
  // Slower than the limit of reads.
  control.clock.now += 100
  const login: Login | undefined =
    access === 'anyone' ? undefined : access === 'operator' ? operator.as : fixture.user.as
  const response = await control.raw(`${path}?${query}`, {
    method,
    headers: {
      ...(login !== undefined && 'cookie' in login ? { cookie: login.cookie } : {}),
      ...(method === 'GET'
        ? {}
        : { 'content-type': 'application/json', origin: control.url, 'sec-fetch-site': 'same-origin' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(findResponseProblems(name, response)).toEqual([])
  return response
}

const getProblem = ({ status, body }: TestResponse): readonly unknown[] => {
  const { error } = body as ApiErrorView
  return [status, error.code, error.fields]
}

/** The names of a route's query parameters. */
const getParameters = (name: RouteName): string[] => {
  const { query } = getRoute(name)
  return query === undefined ? [] : Object.keys((query as z.ZodObject).shape)
}

test('some routes have query parameters', () => {
  expect(routeNames.filter((name) => getParameters(name).length > 0).length).toBeGreaterThan(5)
})

test.each(routeNames)('%s', async (name) => {
  // Also if the route ignores the query, and if both values are equal.
  for (const parameter of [...getParameters(name), 'other']) {
    const fix = 'is repeated: send it once'
    const expected = [422, 'invalid', [{ field: parameter, fix }]]
    expect(getProblem(await call(name, `${parameter}=a&${parameter}=b`))).toEqual(expected)
    expect(getProblem(await call(name, `${parameter}=1&${parameter}=1`))).toEqual(expected)
    expect(getProblem(await call(name, `${parameter}&x=1&${parameter}=`))).toEqual(expected)
  }
})

test.each([
  ['two encodings of the same name', 'search=a&se%61rch=b', [{ field: 'search', fix: expect.any(String) }]],
  ['three values', 'limit=1&limit=2&limit=3', [{ field: 'limit', fix: expect.any(String) }]],
  [
    'two repeated parameters',
    'limit=1&search=a&limit=2&search=b',
    [
      { field: 'limit', fix: expect.any(String) },
      { field: 'search', fix: expect.any(String) },
    ],
  ],
  [
    'a name that could be a secret',
    'kr_a%20secret=1&kr_a%20secret=2',
    [{ field: 'query', fix: 'contains a repeated parameter: send each one once' }],
  ],
  ['an empty name', '=1&=2', [{ field: 'query', fix: 'contains a repeated parameter: send each one once' }]],
  ['__proto__', '__proto__=1&__proto__=2', [{ field: '__proto__', fix: expect.any(String) }]],
])('%s', async (_, query, fields) => {
  const response = await call('GET /api/apps', query)
  expect(getProblem(response)).toEqual([422, 'invalid', fields])
  expect(response.text).not.toContain('secret')
})

test('parameters that occur once are accepted', async () => {
  expect((await call('GET /api/apps', 'search=a&limit=2')).status).toBe(200)
  expect((await call('GET /api/apps', 'search=a%26search%3Db')).status).toBe(200)
})
