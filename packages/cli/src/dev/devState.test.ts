import { describe, expect, test } from 'vitest'
import { readDevNetworks } from './devNetworks.ts'
import { addKeys, createDevState, parseDevState } from './devState.ts'

describe('createDevState', () => {
  test('creates different secrets each time', () => {
    const [a, b] = [createDevState(), createDevState()]
    expect(a.account.password).not.toBe(b.account.password)
    expect(a.account.password.length).toBeGreaterThanOrEqual(24)
    expect(
      new Set([a, b].flatMap(({ app, keys }) => [app.apiKey, ...Object.values(keys).map(({ apiKey }) => apiKey)])).size,
    ).toBe(6)
  })
})

describe('addKeys', () => {
  test('keeps the keys that exist, and adds others up to four', () => {
    const state = createDevState()
    const added = addKeys(state, readDevNetworks('mainnet,base,base-sepolia,polygon'))
    expect(Object.keys(added.keys)).toEqual(['testnet', 'mainnet', 'base', 'base-sepolia'])
    expect(added.keys['mainnet']).toEqual(state.keys['mainnet'])
    expect(added.keys['base']?.apiKey).toMatch(/^kr_m/)
    expect(added.keys['base-sepolia']?.apiKey).toMatch(/^kr_t/)
    expect(parseDevState(JSON.stringify(added))).toEqual(added)
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
    [
      'swapped keys',
      { ...state, keys: { ...state.keys, testnet: state.keys['mainnet'] } },
      'keys.testnet.apiKey is not',
    ],
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
