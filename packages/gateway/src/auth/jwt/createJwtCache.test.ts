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

/** A cache with a clock to set, and a count of how often the keys were asked for: only a verdict made anew does that. */
const watched = (options: JwtCacheOptions = {}) => {
  let nowS = start
  let asked = 0
  const counting = new Map(policy.keys)
  counting.get = (kid) => {
    asked += 1
    return policy.keys.get(kid)
  }
  const cache = createJwtCache({ ...options, now: () => nowS * 1000 })
  const app = { id: 'app-1', version: 1, jwt: { ...policy, keys: counting } }
  return {
    cache,
    app,
    at: (s: number) => (nowS = start + s),
    judge: (token: string, as: Partial<typeof app> = {}) => {
      const verdict = cache.judge(token, { ...app, ...as })
      return verdict.ok ? 'ok' : verdict.check
    },
    asked: () => asked,
  }
}

describe('createJwtCache', () => {
  test('judges a token once a minute, good or bad', () => {
    const { judge, asked, at } = watched()
    const tokens = [make({ exp: start + 3600 }), `${make({ exp: start + 3600 }).slice(0, -4)}AAAA`]
    for (let index = 0; index < 10; index += 1) expect(tokens.map((token) => judge(token))).toEqual(['ok', 'signature'])
    expect(asked()).toBe(2)
    at(59.999)
    expect(tokens.map((token) => judge(token))).toEqual(['ok', 'signature'])
    expect(asked()).toBe(2)
    at(60)
    expect(tokens.map((token) => judge(token))).toEqual(['ok', 'signature'])
    expect(asked()).toBe(4)
  })

  test('no verdict outlives the end of its token, and the one after it is remembered too', () => {
    const { judge, asked, at } = watched()
    const token = make({ exp: start + 10 })
    expect(judge(token)).toBe('ok')
    at(9.999)
    expect(judge(token)).toBe('ok')
    at(10)
    expect([judge(token), judge(token), judge(token)]).toEqual(['expiry', 'expiry', 'expiry'])
    expect(asked()).toBe(2)
  })

  test('a token that was too early is judged anew when its time has come', () => {
    const { judge, at } = watched()
    const early = make({ exp: start + 3600, nbf: start + 40 })
    const ahead = make({ exp: start + 86_400 + 35 })
    const issued = make({ exp: start + 3600, iat: start + 40 })
    expect([early, ahead, issued].map((token) => judge(token))).toEqual(['not_before', 'lifetime', 'issued_at'])
    at(4)
    expect(judge(ahead)).toBe('lifetime')
    at(5)
    expect(judge(ahead)).toBe('ok')
    at(9)
    expect([early, issued].map((token) => judge(token))).toEqual(['not_before', 'issued_at'])
    at(10)
    expect([early, issued].map((token) => judge(token))).toEqual(['ok', 'ok'])
  })

  test('a verdict belongs to one version of one app', () => {
    const { judge } = watched()
    const token = make({ exp: start + 3600 })
    const without = compileJwtPolicy({ keys: [] })
    expect(judge(token)).toBe('ok')
    expect(judge(token, { jwt: { ...without, keys: new Map() } })).toBe('ok')
    expect(judge(token, { version: 2, jwt: { ...without, keys: new Map() } })).toBe('kid')
    expect(judge(token, { id: 'app-2', jwt: { ...without, keys: new Map() } })).toBe('kid')
    expect(judge(token)).toBe('ok')
  })

  test('a clock that was set back ends what was found by it', () => {
    const { judge, at } = watched()
    const token = make({ exp: start + 3600, nbf: start })
    expect(judge(token)).toBe('ok')
    at(-100)
    expect(judge(token)).toBe('not_before')
  })

  test('is bounded, and bad tokens do not crowd out good ones', () => {
    const { judge, asked, cache } = watched({ maxResults: 10 })
    const token = make({ exp: start + 3600 })
    expect(judge(token)).toBe('ok')
    for (let index = 0; index < 1_000; index += 1) expect(judge(`rubbish-${index}`)).toBe('malformed')
    expect(cache.size).toBeLessThanOrEqual(20)
    expect(judge(token)).toBe('ok')
    expect(asked()).toBe(1)
  })

  test('where no token was sent nothing is remembered', () => {
    const { cache, app } = watched()
    expect(cache.judge(undefined, app)).toMatchObject({ check: 'missing' })
    expect(cache.size).toBe(0)
  })

  test('holds no token, only what was found of it', () => {
    const { cache, app } = watched()
    const kept: string[] = []
    const set = Map.prototype.set
    Map.prototype.set = function watchedSet(this: Map<unknown, unknown>, key: unknown, value: unknown) {
      kept.push(String(key), JSON.stringify(value))
      return set.call(this, key, value)
    }
    const token = make({ exp: start + 3600 })
    try {
      cache.judge(token, app)
    } finally {
      Map.prototype.set = set
    }
    expect(kept.length).toBeGreaterThan(0)
    for (const part of token.split('.')) expect(kept.join('\n')).not.toContain(part)
  })
})
