import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createApiKey } from './apiKey.ts'
import { hashApiKey } from './hashApiKey.ts'
import { openKey, sealKey } from './sealKey.ts'
import { createServerSecret } from './serverSecret.ts'
import { storeKey } from './storeKey.ts'

const text = randomBytes(32).toString('base64url')
const secret = createServerSecret(text)
const owner = { id: 'key_1', userId: 'usr_1' }
const key = createApiKey('app')
const shown = (error: unknown): string => inspect(error, { depth: Infinity, showHidden: true })

const getError = (work: () => unknown): Error => {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('expected an error')
}

describe('sealKey', () => {
  test('openKey opens what sealKey sealed, and each sealed copy differs', () => {
    const [one, two] = [sealKey(key, owner, secret), sealKey(key, owner, secret)]
    expect([openKey(one, owner, [secret]), openKey(two, owner, [secret])]).toEqual([key, key])
    expect(Buffer.from(one).equals(two)).toBe(false)
    expect(Buffer.from(one).includes(key)).toBe(false)
  })

  test('stores the version of the secret in the first byte, and is 29 bytes longer than the key', () => {
    const sealed = sealKey(key, owner, createServerSecret(text, { version: 255 }))
    expect([sealed[0], sealed.length]).toEqual([255, key.length + 29])
  })

  test('never uses a nonce twice', () => {
    const nonces = Array.from({ length: 1_000 }, () =>
      Buffer.from(sealKey(key, owner, secret).subarray(1, 13)).toString('hex'),
    )
    expect(new Set(nonces).size).toBe(1_000)
  })
})

describe('openKey', () => {
  const sealed = sealKey(key, owner, secret)
  const cannotBeDecrypted = 'the sealed key cannot be decrypted'

  test.each([
    ['another row', { ...owner, id: 'key_2' }],
    ['another user', { ...owner, userId: 'usr_2' }],
    ['a row and a user whose ids are the same when concatenated', { id: 'key_1usr', userId: '_1' }],
  ])('rejects a copy in %s', (_, other) => {
    expect(() => openKey(sealed, other, [secret])).toThrow(cannotBeDecrypted)
  })

  test('rejects another secret of the same version', () => {
    expect(() => openKey(sealed, owner, [createServerSecret('another secret, as long as it must be')])).toThrow(
      cannotBeDecrypted,
    )
  })

  test('rejects a version without a secret, and names the versions that it has', () => {
    const [second, third] = [2, 3].map((version) => createServerSecret(text, { version }))
    if (second === undefined || third === undefined) throw new Error('unreachable')
    expect(() => openKey(sealed, owner, [second, third])).toThrow(
      'the key is sealed with version 1 of the server secret, but the available versions are: 2, 3',
    )
    expect(() => openKey(sealed, owner, [])).toThrow('the available versions are: none')
  })

  test('rejects a changed version byte, also if there is a secret of that version', () => {
    const changed = Buffer.from(sealed)
    changed[0] = 2
    expect(() => openKey(changed, owner, [secret, createServerSecret(text, { version: 2 })])).toThrow(cannotBeDecrypted)
  })

  test('rejects a key with any changed byte', () => {
    for (let index = 1; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => openKey(changed, owner, [secret])).toThrow(cannotBeDecrypted)
    }
  })

  test('rejects a key that is cut off anywhere', () => {
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => openKey(sealed.subarray(0, length), owner, [secret])).toThrow(
        length <= 29 ? `the sealed key is cut off: it has only ${length} bytes` : cannotBeDecrypted,
      )
  })

  test('its errors contain neither the key nor the secret', () => {
    const errors = [
      getError(() => openKey(sealed, { ...owner, id: 'x' }, [secret])),
      getError(() => openKey(sealed, owner, [])),
      getError(() => openKey(sealed.subarray(0, 5), owner, [secret])),
      getError(() => createServerSecret(text.slice(0, 31))),
      getError(() => createServerSecret(text, { version: 0 })),
      getError(() => storeKey(`${key}x`, { owner })),
    ]
    for (const error of errors)
      for (const hidden of [key, text, text.slice(0, 31), secret.key.export().toString('hex')])
        expect(shown(error)).not.toContain(hidden)
  })
})

describe('createServerSecret', () => {
  test.each([0, 256, 1.5, Number.NaN])('rejects the version %d', (version) => {
    expect(() => createServerSecret(text, { version })).toThrow('a whole number from 1 to 255')
  })

  test('rejects a text that is too short', () => {
    expect(() => createServerSecret('short')).toThrow('must have at least 32 characters')
  })

  test('printing it does not reveal it', () => {
    for (const form of [shown(secret), JSON.stringify(secret)]) {
      expect(form).not.toContain(text)
      expect(form).not.toContain(secret.key.export().toString('hex'))
    }
  })
})

describe('storeKey', () => {
  test('returns the hash, the ending and a copy that can be opened, but not the key', () => {
    const stored = storeKey(key, { owner, secret })
    expect(stored).toEqual({
      id: owner.id,
      kind: 'app',
      hash: hashApiKey(key),
      ending: key.slice(-4),
      sealed: expect.any(Uint8Array),
    })
    expect(openKey(stored.sealed ?? new Uint8Array(), owner, [secret])).toBe(key)
    expect(shown(stored)).not.toContain(key)
  })

  test('stores no copy without a secret', () => {
    expect(storeKey(key, { owner }).sealed).toBeNull()
  })
})
