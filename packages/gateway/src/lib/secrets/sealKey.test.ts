import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createApiKey } from './apiKey.ts'
import { hashApiKey } from './hashApiKey.ts'
import { openKey } from './openKey.ts'
import { sealKey } from './sealKey.ts'
import { createServerSecret } from './serverSecret.ts'
import { storeKey } from './storeKey.ts'

const text = randomBytes(32).toString('base64url')
const secret = createServerSecret(text)
const owner = { id: 'key_1', userId: 'usr_1' }
const key = createApiKey('app')
const shown = (error: unknown): string => inspect(error, { depth: Infinity, showHidden: true })

const errorOf = (work: () => unknown): Error => {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('nothing was thrown')
}

describe('sealKey', () => {
  test('seals what openKey opens, each time otherwise', () => {
    const [one, two] = [sealKey(key, owner, secret), sealKey(key, owner, secret)]
    expect([openKey(one, owner, [secret]), openKey(two, owner, [secret])]).toEqual([key, key])
    expect(Buffer.from(one).equals(two)).toBe(false)
    expect(Buffer.from(one).includes(key)).toBe(false)
  })

  test('names the version of the secret in its first byte, and has the length of the key and 29 more', () => {
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
  const doesNotOpen = 'the sealed key does not open'

  test.each([
    ['another row', { ...owner, id: 'key_2' }],
    ['another user', { ...owner, userId: 'usr_2' }],
    ['a row and a user that read the same when joined', { id: 'key_1usr', userId: '_1' }],
  ])('rejects a copy in %s', (_, other) => {
    expect(() => openKey(sealed, other, [secret])).toThrow(doesNotOpen)
  })

  test('rejects another secret of the same version', () => {
    expect(() => openKey(sealed, owner, [createServerSecret('another secret, as long as it must be')])).toThrow(
      doesNotOpen,
    )
  })

  test('rejects a version that it has no secret of, and names those that it has', () => {
    const [second, third] = [2, 3].map((version) => createServerSecret(text, { version }))
    if (second === undefined || third === undefined) throw new Error('unreachable')
    expect(() => openKey(sealed, owner, [second, third])).toThrow(
      'the key is sealed under version 1 of the server secret, and there is: 2, 3',
    )
    expect(() => openKey(sealed, owner, [])).toThrow('and there is: none')
  })

  test('rejects a version byte that was changed to one that it has a secret of', () => {
    const changed = Buffer.from(sealed)
    changed[0] = 2
    expect(() => openKey(changed, owner, [secret, createServerSecret(text, { version: 2 })])).toThrow(doesNotOpen)
  })

  test('rejects any byte changed', () => {
    for (let place = 1; place < sealed.length; place += 1) {
      const changed = Buffer.from(sealed)
      changed[place] = (changed[place] ?? 0) ^ 1
      expect(() => openKey(changed, owner, [secret])).toThrow(doesNotOpen)
    }
  })

  test('rejects it cut short anywhere', () => {
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => openKey(sealed.subarray(0, length), owner, [secret])).toThrow(
        length <= 29 ? `the sealed key is cut short: it has ${length} bytes` : doesNotOpen,
      )
  })

  test('tells neither the key nor the secret in any of its errors', () => {
    const errors = [
      errorOf(() => openKey(sealed, { ...owner, id: 'x' }, [secret])),
      errorOf(() => openKey(sealed, owner, [])),
      errorOf(() => openKey(sealed.subarray(0, 5), owner, [secret])),
      errorOf(() => createServerSecret(text.slice(0, 31))),
      errorOf(() => createServerSecret(text, { version: 0 })),
      errorOf(() => storeKey(`${key}x`, { owner })),
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

  test('rejects a text that could be guessed', () => {
    expect(() => createServerSecret('short')).toThrow('must have at least 32 characters')
  })

  test('shows nothing of itself', () => {
    for (const form of [shown(secret), JSON.stringify(secret)]) {
      expect(form).not.toContain(text)
      expect(form).not.toContain(secret.key.export().toString('hex'))
    }
  })
})

describe('storeKey', () => {
  test('holds the hash, the ending and a copy that opens, and not the key', () => {
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

  test('keeps no copy without a secret', () => {
    expect(storeKey(key, { owner }).sealed).toBeNull()
  })
})
