import { expect, test } from 'vitest'
import { postgresError } from './postgresError.ts'

test.each([
  ['08006', 'unavailable'],
  ['57P01', 'unavailable'],
  ['57014', 'busy'],
  ['40P01', 'busy'],
  ['23505', 'conflict'],
  ['22P02', 'failed'],
  ['XX000', 'failed'],
  ['ECONNRESET', 'unavailable'],
  // Five letters, as an SQLSTATE has.
  ['EPIPE', 'unavailable'],
  ['EPERM', 'unavailable'],
  [undefined, 'unavailable'],
])('an error with the code %s is told as %s, and nothing of its text', (code, fault) => {
  const told = postgresError(Object.assign(new Error('of db.example.org'), { code }))
  expect(told).toMatchObject({ fault, code })
  expect(told.message).not.toContain('example')
})
