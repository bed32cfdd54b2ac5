import { expect, test } from 'vitest'
import { toPostgresError } from './postgresError.ts'

test.each([
  ['08006', 'unavailable'],
  ['57P01', 'unavailable'],
  ['57014', 'busy'],
  ['40P01', 'busy'],
  ['23505', 'conflict'],
  ['22P02', 'failed'],
  ['XX000', 'failed'],
  ['ECONNRESET', 'unavailable'],
  // Five letters, like an SQLSTATE.
  ['EPIPE', 'unavailable'],
  ['EPERM', 'unavailable'],
  [undefined, 'unavailable'],
])('converts the code %s to %s, without the message', (code, fault) => {
  const error = toPostgresError(Object.assign(new Error('of db.example.org'), { code }))
  expect(error).toMatchObject({ fault, code })
  expect(error.message).not.toContain('example')
})
