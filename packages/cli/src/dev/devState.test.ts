import { describe, expect, test } from 'vitest'
import { createDevState, parseDevState } from './devState.ts'

describe('createDevState', () => {
  test('creates different secrets each time', () => {
    const [a, b] = [createDevState(), createDevState()]
    expect(a.account.password).not.toBe(b.account.password)
    expect(a.account.password.length).toBeGreaterThanOrEqual(24)
    expect(
      new Set([a, b].flatMap(({ app, keys }) => [app.apiKey, keys.testnet.apiKey, keys.mainnet.apiKey])).size,
    ).toBe(6)
  })
})

describe('parseDevState', () => {
  test('parses a created state', () => {
    const state = createDevState()
    expect(parseDevState(JSON.stringify(state))).toEqual(state)
  })

  const state = createDevState()
  test.each<[string, unknown, string]>([
    ['an array', [], 'the object is missing'],
    ['another version', { ...state, version: 2 }, 'unsupported version'],
    ['no account', { ...state, account: null }, 'account is missing'],
    ['a blank password', { ...state, account: { email: 'a', password: ' ' } }, 'account.password is missing'],
    ['a broken key', { ...state, app: { id: 'a', apiKey: `${state.app.apiKey}x` } }, 'app.apiKey is not a key'],
    ['swapped keys', { ...state, keys: { ...state.keys, testnet: state.keys.mainnet } }, 'keys.testnet.apiKey is not'],
  ])('rejects %s without repeating its value', (_what, value, message) => {
    expect(() => parseDevState(JSON.stringify(value))).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message) }),
    )
    expect(() => parseDevState(JSON.stringify(value))).not.toThrow(state.app.apiKey)
  })

  test('rejects truncated text without quoting it', () => {
    const text = JSON.stringify(createDevState()).slice(0, -10)
    expect(() => parseDevState(text)).toThrow(/^invalid JSON$/)
  })
})
