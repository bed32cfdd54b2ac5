import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createServerSecret } from '../../lib/secrets/serverSecret.ts'
import { createSignedToken, readSignedToken } from './signedToken.ts'

const newSecret = (version: number) => createServerSecret(randomBytes(32).toString('hex'), { version })
const [old, newest] = [newSecret(1), newSecret(2)]
const scope = { purpose: 'pendingLogIn' as const, binding: ['usr_1', 'hash'] }
const expiresAt = 1_800_000_000_000
const now = expiresAt - 1
const token = createSignedToken(scope, { secrets: [newest, old], expiresAt })

describe('readSignedToken', () => {
  test('reads a token until it expires, also after the secret was rotated', () => {
    const valid = { hash: expect.stringMatching(/^[0-9a-f]{64}$/), expiresAt }
    expect(readSignedToken(token, scope, { secrets: [newest], now })).toEqual(valid)
    expect(readSignedToken(token, scope, { secrets: [newSecret(3), newest], now })).toEqual(valid)
    expect(readSignedToken(token, scope, { secrets: [newest], now: expiresAt })).toBeUndefined()
    expect(createSignedToken(scope, { secrets: [newest], expiresAt })).not.toBe(token)
  })

  test.each([
    ['another purpose', { ...scope, purpose: 'newPasskey' as const }],
    ['another binding', { ...scope, binding: ['usr_1', 'other'] }],
    ['a binding that is the same when concatenated', { ...scope, binding: ['usr_1hash'] }],
  ])('rejects %s', (_, other) => {
    expect(readSignedToken(token, other, { secrets: [newest], now })).toBeUndefined()
  })

  test('rejects another secret, and each changed character', () => {
    expect(readSignedToken(token, scope, { secrets: [old], now })).toBeUndefined()
    expect(readSignedToken(token, scope, { secrets: [], now })).toBeUndefined()
    for (let index = 0; index < token.length; index += 1) {
      const changed = `${token.slice(0, index)}${token[index] === '7' ? '8' : '7'}${token.slice(index + 1)}`
      expect(readSignedToken(changed, scope, { secrets: [newest], now })).toBeUndefined()
    }
    expect(readSignedToken('', scope, { secrets: [newest], now })).toBeUndefined()
  })
})
