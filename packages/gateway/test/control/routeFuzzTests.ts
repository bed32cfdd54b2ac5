import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RouteName } from '../../src/control/contract/routeName.ts'
import { routeNames, getRoute } from '../../src/control/routes.ts'
import type { TestDatabase } from '../storage/databases.ts'
import { findResponseProblems } from './findResponseProblems.ts'
import { validInputs } from './validInputs.ts'
import { startControl } from './startControl.ts'
import type { Sent, StartedControl } from './startControl.ts'
import { createFixture, signUpOperator } from './accountFixture.ts'
import type { TestUser, AccountFixture } from './accountFixture.ts'

/** Texts that often cause problems in databases and URLs. */
const oddText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udfff\ud800',
    '\u202e',
    '\ufeff',
    "' or 1=1 --",
    '%',
    '_',
    '\\',
    '../../etc',
    '%00',
    '%2e%2e',
    '__proto__',
    'constructor',
    '1e999',
    '9007199254740993',
    '9999-12-31T23:59:59Z',
    '+275760-09-13T00:00:00.001Z',
    '2026-02-30T00:00:00Z',
    'x'.repeat(70_000).slice(0, 20_001),
  ),
  // Every code point, including lone surrogates. fast-check's `unit: 'binary'` takes a second to set up.
  fc.array(fc.integer({ min: 0, max: 0x10_ffff }), { maxLength: 80 }).map((points) => String.fromCodePoint(...points)),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
)
const oddValue = fc.oneof(
  oddText,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, true, -0, 1e308, 2 ** 53, -1, 0.5, [], {}, [[]], { length: 1 }),
)

/** Makes a value valid in a URL: without lone surrogates, and short enough for node:http. */
const toUrlText = (value: unknown): string =>
  (typeof value === 'string' ? value : String(JSON.stringify(value))).slice(0, 100).replaceAll(/\p{Cs}/gu, '?')

/** A valid body with some members changed, removed or added, or any value. */
const bodyLike = (validInput: unknown): fc.Arbitrary<unknown> => {
  if (typeof validInput !== 'object' || validInput === null) return oddValue
  const names = [...Object.keys(validInput), 'extra', '__proto__']
  const changed = fc
    .array(fc.tuple(fc.constantFrom(...names), fc.option(oddValue, { nil: undefined })), { minLength: 1, maxLength: 3 })
    .map((changes) => ({ ...validInput, ...Object.fromEntries(changes) }))
  return fc.oneof({ weight: 4, arbitrary: changed }, { weight: 1, arbitrary: oddValue })
}

/**
 * Sends odd values to every route. None may cause an internal error.
 * @param numRuns - Requests to each route with a body or a query.
 */
export const fuzzRoutes = (database: TestDatabase, numRuns: number): void => {
  describe(`on ${database.name}`, () => {
    let control: StartedControl
    let operator: TestUser
    let fixture: AccountFixture
    beforeAll(async () => {
      control = await startControl(database)
      operator = await signUpOperator(control)
      fixture = await createFixture(control)
    })
    afterAll(async () => {
      await control.close()
      await database.stop()
    })

    // Excluded, because they end the session that the other routes need. Their inputs are like the others'.
    const excluded: readonly RouteName[] = [
      'POST /api/account/delete',
      'POST /api/account/password',
      'DELETE /api/session',
      'POST /api/admin/users/{userId}/disable',
    ]

    test.each(routeNames.filter((name) => !excluded.includes(name)))('%s never fails on odd input', async (name) => {
      const validInput = validInputs[name](fixture) as {
        params?: Record<string, string>
        query?: object
        body?: unknown
      }
      const { access, body: takesBody, query: takesQuery } = getRoute(name)
      const as = access === 'operator' ? operator.as : fixture.user.as
      const parts = fc.record({
        params: fc.oneof(
          { weight: 5, arbitrary: fc.constant(validInput.params) },
          {
            weight: 1,
            arbitrary: fc.dictionary(
              fc.constantFrom(...Object.keys(validInput.params ?? { none: '' })),
              oddText.map(toUrlText),
            ),
          },
        ),
        query:
          takesQuery === undefined ? fc.constant(undefined) : fc.option(bodyLike(validInput.query), { nil: undefined }),
        body: takesBody === undefined ? fc.constant(undefined) : bodyLike(validInput.body),
      })
      await fc.assert(
        fc.asyncProperty(parts, async ({ params, query, body }) => {
          control.clock.now += 60_000
          // The clock moves a lot here, and a session expires after 30 days.
          if (control.clock.now - Date.now() > 86_400_000) control.clock.now = Date.now()
          const members = Object.entries(query ?? {})
            .slice(0, 10)
            .map(([name, value]) => [toUrlText(name), toUrlText(value)])
          const sent = { params, query: Object.fromEntries(members), body, as } as unknown as Sent<RouteName>
          const response = await control.call(name, sent)
          expect(response.status, response.text).toBeLessThan(500)
          // Without its ids, the path may belong to another route.
          if (params === validInput.params) expect(findResponseProblems(name, response)).toEqual([])
        }),
        { numRuns: takesBody === undefined && takesQuery === undefined ? 10 : numRuns },
      )
    })
  })
}
