import { describe, expect, test } from 'vitest'
import { canBePassword, findPasswordFault } from './findPasswordFault.ts'

const faultOf = (password: string): string | undefined =>
  findPasswordFault(password, { email: 'Alexander@example.org' })

describe('findPasswordFault', () => {
  test.each([
    'plum tin roof gate',
    'Tr0ub4dor&3',
    'hunter2hunter3',
    'aaaabaac9',
    '\u{1F511}\u{1F98A}\u{1F345}\u{1F30A}\u{1F335}\u{1F3B2}\u{1F9F2}\u{1F6F6}',
    'Alexander the lesser',
    'x9'.repeat(12) + 'plum roof',
    'abcdefg plum',
    ' spaces count ',
  ])('takes %s', (password) => {
    expect(faultOf(password)).toBeUndefined()
  })

  test.each([
    ['seven77', 'must have at least 8'],
    ['\u{1F511}'.repeat(7), 'must have at least 8'],
    ['ab'.repeat(101), 'must have at most 200'],
    ['\uFDFA'.repeat(12), 'must have at most 200'],
    ['e\u0301'.repeat(7), 'must have at least 8'],
    ['\uD800 is half a character', 'must be text'],
    ['password', 'tried first'],
    ['  PassWord1!!  ', 'tried first'],
    ['12345678', 'tried first'],
    ['0987654321', 'tried first'],
    ['abcdefgh', 'tried first'],
    ['aaaaaaaaaa', 'tried first'],
    ['abcabcabcab', 'tried first'],
    ['qwertyuiop', 'tried first'],
    ['changeme2026', 'tried first'],
    ['alexander', 'must not be the email address'],
    ['99alexander!', 'must not be the email address'],
    ['ALEXANDER@example.org', 'must not be the email address'],
    ['example.org', 'must not be the email address'],
  ])('says what is wrong with %s', (password, fault) => {
    expect(faultOf(password)).toContain(fault)
  })

  test('counts 8 and 200 characters in', () => {
    expect(faultOf('plumroof')).toBeUndefined()
    expect(faultOf('plum tin roof gate ab'.repeat(10).slice(0, 200))).toBeUndefined()
    expect(faultOf('plum tin roof gate ab'.repeat(10).slice(0, 201))).toContain('at most 200')
  })

  test('a text of more than 200 characters can be nobody\u2019s password', () => {
    expect(canBePassword('')).toBe(true)
    expect(canBePassword('x'.repeat(200))).toBe(true)
    expect(canBePassword('x'.repeat(201))).toBe(false)
    expect(canBePassword('x'.repeat(10_000_000))).toBe(false)
  })
})
