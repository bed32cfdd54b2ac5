import { describe, expect, test } from 'vitest'
import { nearest } from './nearest.ts'

describe('nearest', () => {
  const names = ['--port', '--data', '--once', '--json', '--unsafe-node-methods']

  test.each([
    ['--prot', '--port'],
    ['--pot', '--port'],
    ['--jsno', '--json'],
    ['--unsafe', '--unsafe-node-methods'],
    ['--unsafe-node-method', '--unsafe-node-methods'],
  ])('matches %s to %s', (given, meant) => {
    expect(nearest(given, names)).toBe(meant)
  })

  test('returns undefined if nothing is similar', () => {
    expect(nearest('--verbose', names)).toBeUndefined()
    expect(nearest('x', ['dev', 'call'])).toBeUndefined()
  })

  test('prefers the closest name', () => {
    expect(nearest('cal', ['dev', 'call'])).toBe('call')
    expect(nearest('bev', ['call', 'dev'])).toBe('dev')
  })
})
