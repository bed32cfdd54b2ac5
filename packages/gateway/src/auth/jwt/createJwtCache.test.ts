import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createJwtCache } from './createJwtCache.ts'
import type { JwtCacheOptions } from './createJwtCache.ts'
import { compileJwtPolicy } from './jwtPolicy.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const policy = compileJwtPolicy({
  keys: [{ kid: 'k', pem: publicKey.export({ format: 'pem', type: 'spki' }).toString() }],
})
const start = 1_800_000_000
const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const make = (claims: unknown): string => {
  const signed = `${base64url({ alg: 'EdDSA', kid: 'k' })}.${base64url(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
}

/** A cache with a settable clock. `verifications` counts key look-ups, which only an uncached verification does. */
const createTestCache = (options: JwtCacheOptions = {}) => {
  let nowS = start
  let verified = 0
  const counting = new Map(policy.keys)
  counting.get = (kid) => {
    verified += 1
    return policy.keys.get(kid)
  }
  const cache = createJwtCache({ ...options, now: () => nowS * 1000 })
  const app = { id: 'app-1', version: 1, jwt: { ...policy, keys: counting } }
  return {
    cache,
    app,
    at: (s: number) => (nowS = start + s),
    verify: (token: string, changes: Partial<typeof app> = {}) => {
      const result = cache.verify(token, { ...app, ...changes })
      return result.ok ? 'ok' : result.check
    },
    verifications: () => verified,
  }
}

describe('createJwtCache', () => {
  test('verifies a token once a minute, valid or not', () => {
    const { verify, verifications, at } = createTestCache()
    const tokens = [make({ exp: start + 3600 }), `${make({ exp: start + 3600 }).slice(0, -4)}AAAA`]
    for (let index = 0; index < 10; index += 1)
      expect(tokens.map((token) => verify(token))).toEqual(['ok', 'signature'])
    expect(verifications()).toBe(2)
    at(59.999)
    expect(tokens.map((token) => verify(token))).toEqual(['ok', 'signature'])
    expect(verifications()).toBe(2)
    at(60)
    expect(tokens.map((token) => verify(token))).toEqual(['ok', 'signature'])
    expect(verifications()).toBe(4)
  })

  test('a valid result is cached until the token expires, and so is the result after that', () => {
    const { verify, verifications, at } = createTestCache()
    const token = make({ exp: start + 10 })
    expect(verify(token)).toBe('ok')
    at(9.999)
    expect(verify(token)).toBe('ok')
    at(10)
    expect([verify(token), verify(token), verify(token)]).toEqual(['expiry', 'expiry', 'expiry'])
    expect(verifications()).toBe(2)
  })

  test('a token that was too early is verified again once it may be valid', () => {
    const { verify, at } = createTestCache()
    const early = make({ exp: start + 3600, nbf: start + 40 })
    const ahead = make({ exp: start + 86_400 + 35 })
    const issued = make({ exp: start + 3600, iat: start + 40 })
    expect([early, ahead, issued].map((token) => verify(token))).toEqual(['not_before', 'lifetime', 'issued_at'])
    at(4)
    expect(verify(ahead)).toBe('lifetime')
    at(5)
    expect(verify(ahead)).toBe('ok')
    at(9)
    expect([early, issued].map((token) => verify(token))).toEqual(['not_before', 'issued_at'])
    at(10)
    expect([early, issued].map((token) => verify(token))).toEqual(['ok', 'ok'])
  })

  test('a result is valid for one version of one app', () => {
    const { verify } = createTestCache()
    const token = make({ exp: start + 3600 })
    const without = compileJwtPolicy({ keys: [] })
    expect(verify(token)).toBe('ok')
    expect(verify(token, { jwt: { ...without, keys: new Map() } })).toBe('ok')
    expect(verify(token, { version: 2, jwt: { ...without, keys: new Map() } })).toBe('kid')
    expect(verify(token, { id: 'app-2', jwt: { ...without, keys: new Map() } })).toBe('kid')
    expect(verify(token)).toBe('ok')
  })

  test('a clock that is set back invalidates cached results', () => {
    const { verify, at } = createTestCache()
    const token = make({ exp: start + 3600, nbf: start })
    expect(verify(token)).toBe('ok')
    at(-100)
    expect(verify(token)).toBe('not_before')
  })

  test('is bounded, and invalid tokens do not evict valid ones', () => {
    const { verify, verifications, cache } = createTestCache({ maxResults: 10 })
    const token = make({ exp: start + 3600 })
    expect(verify(token)).toBe('ok')
    for (let index = 0; index < 1_000; index += 1) expect(verify(`invalid-${index}`)).toBe('malformed')
    expect(cache.size).toBeLessThanOrEqual(20)
    expect(verify(token)).toBe('ok')
    expect(verifications()).toBe(1)
  })

  test('caches nothing for requests without a token', () => {
    const { cache, app } = createTestCache()
    expect(cache.verify(undefined, app)).toMatchObject({ check: 'missing' })
    expect(cache.size).toBe(0)
  })

  test('stores no token, only its result', () => {
    const { cache, app } = createTestCache()
    const stored: string[] = []
    const set = Map.prototype.set
    Map.prototype.set = function watchedSet(this: Map<unknown, unknown>, key: unknown, value: unknown) {
      stored.push(String(key), JSON.stringify(value))
      return set.call(this, key, value)
    }
    const token = make({ exp: start + 3600 })
    try {
      cache.verify(token, app)
    } finally {
      Map.prototype.set = set
    }
    expect(stored.length).toBeGreaterThan(0)
    for (const part of token.split('.')) expect(stored.join('\n')).not.toContain(part)
  })
})
