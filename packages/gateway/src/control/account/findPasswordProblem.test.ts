import { describe, expect, test } from 'vitest'
import { canBePassword, findPasswordProblem } from './findPasswordProblem.ts'

const findProblem = (password: string): string | undefined =>
  findPasswordProblem(password, { email: 'Alexander@example.org' })

describe('findPasswordProblem', () => {
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
  ])('accepts %s', (password) => {
    expect(findProblem(password)).toBeUndefined()
  })

  test.each([
    ['seven77', 'at least 8 characters'],
    ['\u{1F511}'.repeat(7), 'at least 8 characters'],
    ['ab'.repeat(101), 'at most 200 characters'],
    ['\uFDFA'.repeat(12), 'at most 200 characters'],
    ['e\u0301'.repeat(7), 'at least 8 characters'],
    ['\uD800 is half a character', 'invalid characters'],
    ['password', 'easy to guess'],
    ['  PassWord1!!  ', 'easy to guess'],
    ['12345678', 'easy to guess'],
    ['0987654321', 'easy to guess'],
    ['abcdefgh', 'easy to guess'],
    ['aaaaaaaaaa', 'easy to guess'],
    ['abcabcabcab', 'easy to guess'],
    ['qwertyuiop', 'easy to guess'],
    ['changeme2026', 'easy to guess'],
    ['alexander', 'is the email address'],
    ['99alexander!', 'is the email address'],
    ['ALEXANDER@example.org', 'is the email address'],
    ['example.org', 'is the email address'],
  ])('rejects %s', (password, problem) => {
    expect(findProblem(password)).toContain(problem)
  })

  test('accepts exactly 8 and 200 characters', () => {
    expect(findProblem('plumroof')).toBeUndefined()
    expect(findProblem('plum tin roof gate ab'.repeat(10).slice(0, 200))).toBeUndefined()
    expect(findProblem('plum tin roof gate ab'.repeat(10).slice(0, 201))).toContain('at most 200')
  })

  test('a text of more than 200 characters cannot be a password', () => {
    expect(canBePassword('')).toBe(true)
    expect(canBePassword('x'.repeat(200))).toBe(true)
    expect(canBePassword('x'.repeat(201))).toBe(false)
    expect(canBePassword('x'.repeat(10_000_000))).toBe(false)
  })
})
