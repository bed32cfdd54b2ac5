import { expect, test } from 'vitest'
import { describeCause, formatCause, getRedisCode } from './causes.ts'

test.each([
  ['sqlite', 'SQLite 13', 'the disk is full: free some space'],
  // An extended result code: SQLITE_IOERR_WRITE.
  ['sqlite', 'SQLite 778', 'the disk reports an error: check the disk'],
  ['file', 'ENOSPC', 'the disk is full: free some space'],
  ['postgres', '28P01', 'its user or password is wrong: correct it'],
  ['postgres', 'ECONNREFUSED', 'nothing listens at its host and port: start the server, or correct the URL'],
  ['redis', 'WRONGPASS', 'its user or password is wrong: correct REDIS_URL'],
  ['redis', 'ECONNREFUSED', 'nothing listens at its host and port: start the server, or correct the URL'],
  ['redis', 'SQLite 13', undefined],
  ['postgres', 'XX000', undefined],
  ['file', 'toString', undefined],
] as const)('the cause of %s %s is %s', (of, code, cause) => {
  expect(describeCause(of, code)).toBe(cause)
})

const withCode = (code: string): Error => Object.assign(new Error(`connect ${code} 10.0.0.1:6379`), { code })

test.each([
  [new Error('WRONGPASS invalid username-password pair or user is disabled.'), 'WRONGPASS'],
  [new Error('NOAUTH Authentication required.'), 'NOAUTH'],
  [withCode('ECONNREFUSED'), 'ECONNREFUSED'],
  [Object.assign(new Error('Failed'), { lastNodeError: withCode('ENOTFOUND') }), 'ENOTFOUND'],
  [Object.assign(new Error('Failed'), { lastNodeError: new Error('Connection is closed.') }), 'closed'],
  // Any other text may contain an address or a key.
  [new Error('10.0.0.1:6379 did not respond'), undefined],
  [new Error('toString'), undefined],
  [withCode('redis://:password@host'), undefined],
  ['WRONGPASS', undefined],
])('the code of %o is %s', (error, code) => {
  expect(getRedisCode(error)).toBe(code)
})

test('an error message has the code after what happened', () => {
  expect(formatCause('file', 'ENOSPC')).toBe('the disk is full (ENOSPC): free some space')
  expect(formatCause('file', 'unknown')).toBeUndefined()
})
