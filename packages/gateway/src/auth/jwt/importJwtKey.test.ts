import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { importJwtKey } from './importJwtKey.ts'
import { createJwtKeyId, isJwtKeyId } from './jwtKeyId.ts'
import { compileJwtPolicy } from './jwtPolicy.ts'

const spki = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString()
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const p256 = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const ed25519 = generateKeyPairSync('ed25519')

describe('importJwtKey', () => {
  test.each([
    ['RSA', rsa.publicKey, ['RS256', 'RS384', 'RS512']],
    ['P-256', p256.publicKey, ['ES256']],
    ['Ed25519', ed25519.publicKey, ['EdDSA']],
  ])('the key determines the algorithms: %s', (_name, key, algorithms) => {
    const imported = importJwtKey(spki(key))
    expect(imported.algorithms).toEqual(algorithms)
    expect(imported.key.equals(key)).toBe(true)
    expect(imported.pem).toBe(spki(key))
  })

  test('accepts other line endings and none, and returns the canonical form', () => {
    const pem = spki(p256.publicKey)
    const oneLine = pem.replaceAll('\n', '').replace('KEY-----', 'KEY-----\n').replace('-----END', '\n-----END')
    for (const text of [pem.replaceAll('\n', '\r\n'), `\n ${pem}\t`, oneLine]) expect(importJwtKey(text).pem).toBe(pem)
  })

  test('the fingerprint equals that of openssl', () => {
    // printf … | openssl pkey -pubin -outform DER | openssl sha256 -binary | base64
    const pem = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----`
    expect(importJwtKey(pem).fingerprint).toBe('oekVYFTgT6yJmunydRMs3Ael28TqLCrTof/G4NJTaB8=')
  })

  const privates = [rsa, p256, ed25519].map((pair) =>
    pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  )
  const others = [
    rsa.privateKey.export({ format: 'pem', type: 'pkcs1' }).toString(),
    p256.privateKey.export({ format: 'pem', type: 'sec1' }).toString(),
    rsa.privateKey.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' }).toString(),
  ]

  test('rejects a private key in any form, also next to a public one, without repeating it', () => {
    for (const secret of [...privates, ...others]) {
      const body = secret.split('\n')[1] ?? ''
      for (const text of [secret, spki(rsa.publicKey) + secret, secret.toLowerCase()]) {
        expect(() => importJwtKey(text)).toThrow(/this is a private key and was not stored/)
        expect(() => importJwtKey(text)).not.toThrow(body)
      }
    }
  })

  test('rejects a private key labelled as a public one', () => {
    for (const secret of privates) {
      const disguised = secret.replaceAll('PRIVATE KEY', 'PUBLIC KEY')
      expect(() => importJwtKey(disguised)).toThrow(TypeError)
      expect(() => importJwtKey(disguised)).not.toThrow(secret.split('\n')[1] ?? '')
    }
  })

  test.each<[unknown]>([[undefined], [1], [['-----BEGIN PUBLIC KEY-----']]])(
    'rejects %j, which is not a string',
    (pem) => {
      expect(() => importJwtKey(pem as string)).toThrow(
        new TypeError('the key must be a string of at most 16384 characters'),
      )
    },
  )

  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey
  test.each<[string, string, RegExp]>([
    ['RSA of 1024 bits', spki(weak), /2048 to 8192 bits, and this one has 1024/],
    ['RSA-PSS', spki(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey), /RSA, P-256 or Ed25519/],
    ['P-384', spki(generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey), /RSA, P-256 or Ed25519/],
    ['secp256k1', spki(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey), /RSA, P-256 or Ed25519/],
    ['Ed448', spki(generateKeyPairSync('ed448').publicKey), /RSA, P-256 or Ed25519/],
    ['X25519', spki(generateKeyPairSync('x25519').publicKey), /RSA, P-256 or Ed25519/],
    ['PKCS #1', rsa.publicKey.export({ format: 'pem', type: 'pkcs1' }).toString(), /PKCS #1 form/],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----', /this is a certificate/],
    ['a word', 'key', /not a public key in PEM/],
    ['nothing', '', /not a public key in PEM/],
    ['two keys', spki(rsa.publicKey) + spki(p256.publicKey), /the one block/],
    ['a key cut short', spki(rsa.publicKey).split('\n').toSpliced(2, 1).join('\n'), /is damaged/],
    ['a long text', 'x'.repeat(20_000), /at most 16384/],
  ])('rejects %s with a fix', (_name, pem, message) => {
    expect(() => importJwtKey(pem)).toThrow(message)
  })

  const withExponent = (e: bigint, n = rsa.publicKey.export({ format: 'jwk' }).n ?? ''): string => {
    const hex = e.toString(16)
    const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
    return spki(createPublicKey({ key: { kty: 'RSA', n, e: bytes.toString('base64url') }, format: 'jwk' }))
  }

  test.each([1n, 2n, 65_536n, 0x1_0000_0001n, (1n << 2_040n) + 1n])(
    'rejects an RSA key with exponent %s: with 1 any text is signed, an even one signs nothing, a long one is slow',
    (e) => {
      const pem = withExponent(e)
      expect(() => importJwtKey(pem)).toThrow('exponent')
    },
  )

  test.each([3n, 65_537n, 0xffff_ffffn])('accepts an RSA key with exponent %s', (e) => {
    expect(importJwtKey(withExponent(e)).algorithms).toContain('RS256')
  })

  test('accepts at most the usual exponent for a long RSA key, because its checks are slow already', () => {
    const modulus = (bits: number): string => Buffer.alloc(bits / 8, 0xff).toString('base64url')
    expect(importJwtKey(withExponent(0xffff_ffffn, modulus(4096))).algorithms).toContain('RS256')
    expect(importJwtKey(withExponent(65_537n, modulus(8192))).algorithms).toContain('RS256')
    expect(() => importJwtKey(withExponent(65_539n, modulus(8192)))).toThrow('exponent')
  })

  test('a modified key is imported as an intact key or rejected by a message without its content', () => {
    const pems = [rsa, p256, ed25519].map((pair) => spki(pair.publicKey))
    const changes = fc.array(fc.tuple(fc.nat(), fc.constantFrom('', 'A', '/', '\n', '=', '-', ' ', 'é', '\0')), {
      maxLength: 3,
    })
    const seen = { valid: 0, all: 0 }
    fc.assert(
      fc.property(
        fc.constantFrom(...pems),
        fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 7, arbitrary: changes }),
        (pem, list) => {
          let text = pem
          for (const [at, put] of list)
            text = text.slice(0, at % text.length) + put + text.slice((at % text.length) + 1)
          seen.all += 1
          let message = ''
          try {
            const { pem: stored, algorithms } = importJwtKey(text)
            seen.valid += 1
            expect(importJwtKey(stored)).toMatchObject({ pem: stored, algorithms })
          } catch (error) {
            if (!(error instanceof TypeError)) throw error
            ;({ message } = error)
          }
          if (message !== '') for (const line of pem.split('\n').slice(1, -2)) expect(message).not.toContain(line)
        },
      ),
      { numRuns: fuzzCases(2_000) },
    )
    expect(seen.valid / seen.all).toBeGreaterThan(0.3)
    expect(seen.valid / seen.all).toBeLessThan(0.9)
  })
})

describe('createJwtKeyId', () => {
  test('creates 22 characters, different each time', () => {
    const ids = new Set(Array.from({ length: 1_000 }, createJwtKeyId))
    expect(ids.size).toBe(1_000)
    for (const id of ids) expect(id).toMatch(/^[\w-]{22}$/)
  })
})

describe('isJwtKeyId', () => {
  test('accepts every id from createJwtKeyId', () => {
    for (let count = 0; count < 100; count += 1) expect(isJwtKeyId(createJwtKeyId())).toBe(true)
  })

  test.each([
    '',
    'k'.repeat(21),
    'k'.repeat(23),
    ` ${'k'.repeat(22)}`,
    `${'k'.repeat(22)}\n`,
    `${'k'.repeat(21)}+`,
    `${'k'.repeat(21)}/`,
    `${'k'.repeat(21)}=`,
    `${'k'.repeat(21)}\0`,
    `${'k'.repeat(21)}é`,
  ])('rejects %j', (kid) => {
    expect(isJwtKeyId(kid)).toBe(false)
  })
})

describe('compileJwtPolicy', () => {
  const pem = spki(ed25519.publicKey)
  test.each<[Parameters<typeof compileJwtPolicy>[0], RegExp]>([
    [{ keys: ['a', 'b', 'c', 'd'].map((kid) => ({ kid, pem })) }, /at most 3/],
    [{ keys: ['a', 'a'].map((kid) => ({ kid, pem })) }, /its own kid/],
    [{ keys: [{ kid: '', pem }] }, /must not be empty/],
    [{ keys: [], maxLifetimeS: 0 }, /maxLifetimeS/],
    [{ keys: [], maxLifetimeS: Infinity }, /maxLifetimeS/],
    [{ keys: [], audience: '' }, /audience/],
    [{ keys: [], maxLifetimeS: 1.5 }, /maxLifetimeS/],
    [{ keys: [], maxLifetimeS: 31_536_001 }, /from 1 to 31536000/],
    [{ keys: [], audience: 1 as unknown as string }, /audience must be a non-empty string/],
  ])('rejects settings %#', (settings, message) => {
    expect(() => compileJwtPolicy(settings)).toThrow(message)
  })

  test('the lifetime is a day by default', () => {
    const keys = ['a', 'b', 'c'].map((kid) => ({ kid, pem }))
    expect(compileJwtPolicy({ keys })).toMatchObject({ audience: undefined, maxLifetimeS: 86_400 })
    for (const maxLifetimeS of [1, 31_536_000])
      expect(compileJwtPolicy({ keys, audience: 'us', maxLifetimeS })).toMatchObject({ audience: 'us', maxLifetimeS })
    expect([...compileJwtPolicy({ keys }).keys.keys()]).toEqual(['a', 'b', 'c'])
  })
})
