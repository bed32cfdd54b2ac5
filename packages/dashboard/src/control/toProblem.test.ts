import { expect, test } from 'vitest'
import { toProblem } from './toProblem.ts'

const limit = { field: 'limits.perDay', fix: 'must be at most 5' }
const jwt = { field: 'requireJwt', fix: 'would reject every call' }
const invalid = (...fields: readonly (typeof limit)[]) => ({
  code: 'invalid',
  message: fields.map(({ field, fix }) => `${field} ${fix}`).join('; '),
  fields,
})

test('a problem with a field is reported only at that field', () => {
  expect(toProblem(invalid(limit), ['limits.perDay'])).toBeUndefined()
  expect(toProblem(invalid(limit, jwt), ['limits.perDay'])).toBe('Require jwt would reject every call.')
})

test("a problem without a field on the page is reported once, in the page's words", () => {
  expect(toProblem(invalid(jwt), [], { requireJwt: 'This' })).toBe('This would reject every call.')
  expect(toProblem(invalid(limit), [])).toBe('Per day must be at most 5.')
})

test('a rejection that describes the problem is not repeated at its field', () => {
  const moved = { code: 'version_conflict', message: 'it has changed', fields: [{ field: 'version', fix: 'is old' }] }
  expect(toProblem(moved, [])).toMatch(/^This was changed elsewhere\. The latest version is shown/)
  expect(toProblem({ code: 'too_many', message: 'there are ten', fields: [] }, ['name'])).toBe('There are ten.')
})
