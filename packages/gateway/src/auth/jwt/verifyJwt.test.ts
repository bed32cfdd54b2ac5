import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { compactVerify, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { compileJwtPolicy } from './jwtPolicy.ts'
import type { JwtSettings } from './jwtPolicy.ts'
import { parseJwt, parseKid } from './parseJwt.ts'
import { parseBearer } from '../../lib/parseBearer.ts'
import { parseNarrowingClaims, toJwtRejection, verifyJwt } from './verifyJwt.ts'
import type { JwtResult } from './verifyJwt.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const p256 = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const ed25519 = generateKeyPairSync('ed25519')
const otherKey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const spki = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString()
const keys = [
  { kid: 'rsa', pem: spki(rsa.publicKey) },
  { kid: 'ec', pem: spki(p256.publicKey) },
  { kid: 'ed', pem: spki(ed25519.publicKey) },
]
const publicKeys: Readonly<Record<string, KeyObject>> = {
  rsa: rsa.publicKey,
  ec: p256.publicKey,
  ed: ed25519.publicKey,
}

const now = 1_800_000_000
const hour = now + 3600
const base64url = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Builds a token by hand, so that it may be invalid in any way. Signed with the P-256 key by default. */
const make = (header: unknown, claims: unknown, key: KeyObject = p256.privateKey): string => {
  const signed = `${base64url(header)}.${base64url(claims)}`
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}
const es256 = { alg: 'ES256', kid: 'ec' }
const validClaims = { exp: hour }

const verifyToken = (token: string | undefined, settings: Partial<JwtSettings> = {}): JwtResult =>
  verifyJwt(token, compileJwtPolicy({ keys, ...settings }), now * 1000)
const getCheck = (token: string | undefined, settings: Partial<JwtSettings> = {}): string => {
  const result = verifyToken(token, settings)
  return result.ok ? 'ok' : result.check
}

describe('verifyJwt', () => {
  test.each([
    ['RS256', 'rsa', rsa.privateKey],
    ['RS384', 'rsa', rsa.privateKey],
    ['RS512', 'rsa', rsa.privateKey],
    ['ES256', 'ec', p256.privateKey],
    ['EdDSA', 'ed', ed25519.privateKey],
  ])('accepts a token that jose signed with %s', async (alg, kid, key) => {
    const token = await new SignJWT({ exp: hour }).setProtectedHeader({ alg, kid, typ: 'JWT' }).sign(key)
    expect(verifyToken(token)).toEqual({ ok: true, kid, untilMs: hour * 1000, allow: undefined })
    expect(parseKid(token)).toBe(kid)
    for (const other of ['rsa', 'ec', 'ed'].filter((name) => name !== kid)) {
      const crossed = await new SignJWT({ exp: hour }).setProtectedHeader({ alg, kid: other }).sign(key)
      expect(getCheck(crossed)).toBe('algorithm')
    }
  })

  test.each<[string, unknown]>([
    ['PS256', 'rsa'],
    ['none', 'ec'],
    ['None', 'ec'],
    ['', 'ec'],
    ['HS256', 'rsa'],
    ['es256', 'ec'],
    ['ES384', 'ec'],
    ['ES256K', 'ec'],
    ['Ed25519', 'ed'],
    ['RS256', 'ec'],
  ])('rejects the alg %s for the key %s', (alg, kid) => {
    expect(getCheck(make({ alg, kid }, validClaims))).toBe('algorithm')
    expect(getCheck(`${base64url({ alg, kid })}.${base64url(validClaims)}.`)).toBe('algorithm')
  })

  test.each([
    ['rsa', 'the alg of this kid is RS256 or RS384 or RS512'],
    ['ec', 'the alg of this kid is ES256'],
    ['ed', 'the alg of this kid is EdDSA'],
  ])('a wrong alg for the key %s: %s', (kid, message) => {
    expect(verifyToken(make({ alg: 'none', kid }, validClaims))).toMatchObject({
      check: 'algorithm',
      message,
      untilMs: Infinity,
    })
  })

  test('rejects an HMAC made with a public key', () => {
    for (const { kid, pem } of keys) {
      for (const secret of [pem, pem.trim(), Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64')]) {
        for (const alg of ['HS256', 'RS256', 'ES256', 'EdDSA']) {
          const signed = `${base64url({ alg, kid })}.${base64url(validClaims)}`
          const token = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
          expect(['algorithm', 'signature']).toContain(getCheck(token))
        }
      }
    }
  })

  test.each(['crit', 'jku', 'x5u', 'jwk', 'x5c', 'b64', 'zip', 'enc'])('rejects the header %s', (name) => {
    for (const value of [null, [], 'https://evil.example/keys', otherKey.publicKey.export({ format: 'jwk' })])
      expect(verifyToken(make({ ...es256, [name]: value }, validClaims))).toMatchObject({
        ok: false,
        check: 'header',
        message: `header ${name} is not supported`,
      })
  })

  test.each<[unknown, string]>([
    [{ alg: 'ES256' }, 'no kid'],
    [{ alg: 'ES256', kid: null }, 'no kid'],
    [{ alg: 'ES256', kid: ['ec'] }, 'no kid'],
    [{ alg: 'ES256', kid: 'other' }, 'unknown kid'],
    [{ alg: 'ES256', kid: '__proto__' }, 'unknown kid'],
    [{ alg: 'ES256', kid: 'EC' }, 'unknown kid'],
  ])('rejects the header %j: %s', (header, message) => {
    expect(verifyToken(make(header, validClaims))).toMatchObject({ check: 'kid', message })
  })

  test('rejects a foreign key, a changed token and other signature formats', () => {
    expect(getCheck(make(es256, validClaims, otherKey.privateKey))).toBe('signature')
    const [header, , signature] = make(es256, validClaims).split('.')
    expect(getCheck(`${header}.${base64url({ exp: hour + 1 })}.${signature}`)).toBe('signature')
    expect(getCheck(`${header}.${base64url(validClaims)}.`)).toBe('signature')
    expect(getCheck(`${header}.${base64url(validClaims)}.${Buffer.alloc(64).toString('base64url')}`)).toBe('signature')
    const der = sign('sha256', Buffer.from(`${header}.${base64url(validClaims)}`), p256.privateKey)
    expect(getCheck(`${header}.${base64url(validClaims)}.${der.toString('base64url')}`)).toBe('signature')
  })

  test.each<[Record<string, unknown>, string]>([
    [{}, 'expiry'],
    [{ exp: String(hour) }, 'expiry'],
    [{ exp: null }, 'expiry'],
    [{ exp: [hour] }, 'expiry'],
    [{ exp: now }, 'expiry'],
    [{ exp: now - 1 }, 'expiry'],
    [{ exp: -1 }, 'expiry'],
    [{ exp: now + 0.5 }, 'ok'],
    [{ exp: now + 86_400 + 30 }, 'ok'],
    [{ exp: now + 86_400 + 31 }, 'lifetime'],
    [{ exp: 1e300 }, 'lifetime'],
    [{ exp: hour, nbf: now + 30 }, 'ok'],
    [{ exp: hour, nbf: now + 31 }, 'not_before'],
    [{ exp: hour, nbf: '0' }, 'not_before'],
    [{ exp: hour, iat: now + 30 }, 'ok'],
    [{ exp: hour, iat: now + 31 }, 'issued_at'],
    [{ exp: hour, iat: null }, 'issued_at'],
    [{ exp: hour, iat: 0 }, 'ok'],
    [{ exp: hour, aud: 'anything', sub: 'me', custom: { a: 1 } }, 'ok'],
  ])('claims %j: %s', (claims, expected) => {
    expect(getCheck(make(es256, claims))).toBe(expected)
  })

  test.each<[Record<string, unknown>, string, number]>([
    [{}, 'no exp', Infinity],
    [{ exp: 'x' }, 'exp is not a time in seconds', Infinity],
    [{ exp: now }, 'expired', Infinity],
    [{ exp: now + 86_430 + 7 }, 'exp is more than 86400 seconds ahead', (now + 7) * 1000],
    [{ exp: hour, nbf: '0' }, 'nbf is not a time in seconds', Infinity],
    [{ exp: hour, nbf: now + 37 }, 'not valid yet', (now + 7) * 1000],
    [{ exp: hour, iat: null }, 'iat is not a time in seconds', Infinity],
    [{ exp: hour, iat: now + 37 }, 'issued in the future', (now + 7) * 1000],
    [{ exp: hour, aud: 'them' }, "aud is not this app's", Infinity],
    [{ exp: hour, aud: 'us', methods: [] }, 'methods is invalid', Infinity],
  ])('claims %j: message %j until %s', (claims, message, untilMs) => {
    expect(verifyToken(make(es256, claims), { audience: 'us' })).toMatchObject({ ok: false, message, untilMs })
  })

  test.each<[unknown, string]>([
    ['us', 'ok'],
    [['them', 'us'], 'ok'],
    [undefined, 'audience'],
    ['them', 'audience'],
    ['usa', 'audience'],
    [[], 'audience'],
    [[['us']], 'audience'],
    [{ us: true }, 'audience'],
  ])('if the app has an audience, aud %j: %s', (aud, expected) => {
    expect(getCheck(make(es256, { ...validClaims, aud }), { audience: 'us' })).toBe(expected)
  })

  test('the app sets the longest lifetime', () => {
    expect(getCheck(make(es256, { exp: now + 91 }), { maxLifetimeS: 60 })).toBe('lifetime')
    expect(getCheck(make(es256, { exp: now + 90 }), { maxLifetimeS: 60 })).toBe('ok')
  })

  test('narrowing claims result in an allow list', () => {
    const address = `0x${'a1'.repeat(20)}`
    const result = verifyToken(
      make(es256, {
        ...validClaims,
        methods: ['eth_call'],
        addresses: [address.toUpperCase().replace('0X', '0x')],
        origins: ['*.example.com'],
      }),
    )
    const allow = result.ok ? result.allow : undefined
    expect(allow?.rejectCall({ method: 'eth_call', params: `[{"to":"${address}"}]` })).toBeUndefined()
    expect(allow?.rejectCall({ method: 'eth_getLogs', params: '[]' })?.reason).toBe('method_not_allowed')
    expect(allow?.rejectCall({ method: 'eth_call', params: `[{"to":"0x${'b2'.repeat(20)}"}]` })?.reason).toBe(
      'address_not_allowed',
    )
    const request = { ip: undefined, userAgent: undefined }
    expect(allow?.rejectRequest({ ...request, origin: 'https://app.example.com' })).toBeUndefined()
    expect(allow?.rejectRequest({ ...request, origin: 'https://evil.example' })?.reason).toBe('origin_not_allowed')
  })

  test.each<[Record<string, unknown>]>([
    [{ methods: [] }],
    [{ methods: null }],
    [{ methods: 'eth_call' }],
    [{ methods: ['*'] }],
    [{ methods: [1] }],
    [{ addresses: ['0x'] }],
    [{ addresses: { 0: 'x' } }],
    [{ origins: ['*'] }],
    [{ methods: ['eth_call'], origins: [''] }],
    [{ methods: Array.from({ length: 31 }, () => 'eth_call') }],
  ])('an invalid narrowing claim is rejected, not ignored: %j', (claims) => {
    expect(getCheck(make(es256, { ...validClaims, ...claims }))).toBe('claims')
  })

  const valid = make(es256, validClaims)
  const [head = '', body = '', tail = ''] = valid.split('.')
  test.each<[string, string]>([
    ['empty', ''],
    ['not a token', 'token'],
    ['two parts', `${head}.${body}`],
    ['four parts', `${valid}.`],
    ['an encrypted token', `${valid}.x.y`],
    ['surrounding space', ` ${valid}`],
    ['padding', `${valid}=`],
    ['plain base64', `${head}.${body}.${tail.slice(0, -4)}+/AA`],
    // The last character of 64 encoded bytes has four unused bits.
    ['bits left over', `${head}.${body}.${tail.slice(0, -1)}${{ A: 'B', Q: 'R', g: 'h', w: 'x' }[tail.slice(-1)]}`],
    ['a repeated claim', make(es256, `{"exp":${hour},"exp":${hour}}`)],
    ['a repeated claim, once escaped', make(es256, `{"exp":${hour},"\\u0065xp":${hour}}`)],
    ['a repeated header', make('{"alg":"ES256","kid":"ec","kid":"ec"}', validClaims)],
    ['claims as a list', make(es256, [validClaims])],
    ['claims as null', make(es256, 'null')],
    ['claims that are not JSON', make(es256, `{"exp":${hour}`)],
    ['claims that are not UTF-8', `${head}.${Buffer.from('{"a":"\xff"}', 'latin1').toString('base64url')}.${tail}`],
    ['a header as a string', make('"ES256"', validClaims)],
    ['more than 8192 characters', make(es256, { ...validClaims, x: 'x'.repeat(8_192) })],
  ])('a malformed token is rejected: %s', (_name, token) => {
    expect(verifyToken(token)).toEqual({ ok: false, check: 'malformed', message: 'malformed', untilMs: Infinity })
  })

  test('a member name with an escape is decoded correctly', () => {
    for (let round = 0; round < 3; round += 1) {
      verifyToken(make(es256, `{"exp":${hour},"\\\\u006dethods":1,"\\\\":1}`))
      expect(getCheck(make(es256, `{"exp":${hour},"\\u006dethods":[]}`))).toBe('claims')
    }
  })

  test('error responses match the documentation, and a missing token names the header to use', () => {
    expect(toJwtRejection(verifyToken(valid))).toBeUndefined()
    expect(toJwtRejection(verifyToken(make(es256, { exp: now })))).toEqual({
      status: 401,
      code: -32016,
      message: 'invalid JWT: expired',
      reason: 'jwt_invalid',
      data: { check: 'expiry' },
      headers: ['WWW-Authenticate', 'Bearer error="invalid_token"'],
    })
    expect(toJwtRejection(verifyToken(undefined))).toMatchObject({
      message: 'invalid JWT: no token was sent: use Authorization: Bearer',
      headers: ['WWW-Authenticate', 'Bearer'],
    })
  })

  test('no result repeats content of the token', () => {
    const mark = 's3cretmark'
    const tokens = [
      make({ ...es256, kid: mark }, validClaims),
      make({ ...es256, alg: mark }, validClaims),
      make({ ...es256, [mark]: mark, jku: mark }, validClaims),
      make(es256, { exp: mark }),
      make(es256, { ...validClaims, nbf: mark }),
      make(es256, { ...validClaims, methods: [mark] }),
      mark,
    ]
    for (const token of tokens) {
      const result = verifyToken(token)
      expect(result.ok).toBe(false)
      expect(JSON.stringify(result)).not.toContain(mark)
    }
  })

  test('agrees with jose plus a claims check, on valid and on modified tokens', async () => {
    const signers = [
      { alg: 'RS256', kid: 'rsa', key: rsa.privateKey },
      { alg: 'RS512', kid: 'rsa', key: rsa.privateKey },
      { alg: 'ES256', kid: 'ec', key: p256.privateKey },
      { alg: 'EdDSA', kid: 'ed', key: ed25519.privateKey },
      { alg: 'ES256', kid: 'ec', key: otherKey.privateKey },
      { alg: 'ES256', kid: 'unknown', key: p256.privateKey },
    ]
    const claimSets: Record<string, unknown>[] = [
      { exp: hour },
      { exp: hour, nbf: now, iat: now, aud: 'x' },
      { exp: now - 5 },
      { exp: now + 200_000 },
      { exp: hour, nbf: now + 100 },
      { iat: now },
    ]
    const pool = await Promise.all(
      signers.flatMap(({ alg, kid, key }) =>
        claimSets.map(async (claims) => new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(key)),
      ),
    )
    const policy = compileJwtPolicy({ keys })
    const acceptable = (claims: Record<string, unknown>): boolean => {
      const { exp, nbf, iat } = claims
      if (typeof exp !== 'number' || exp <= now || exp > now + 86_430) return false
      return [nbf, iat].every((time) => time === undefined || (typeof time === 'number' && time <= now + 30))
    }
    const byJose = async (token: string): Promise<boolean> => {
      try {
        const { payload, protectedHeader } = await compactVerify(
          token,
          ({ kid = '' }) => publicKeys[kid] ?? Promise.reject(new Error('unknown kid')),
          { algorithms: ['RS256', 'RS384', 'RS512', 'ES256', 'EdDSA'] },
        )
        const claims: unknown = JSON.parse(Buffer.from(payload).toString())
        // jose also accepts base64url that is not canonical.
        const canonical = token
          .split('.')
          .every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
        const plain = ['jku', 'x5u', 'jwk', 'x5c', 'zip', 'enc', 'b64'].every((name) => !(name in protectedHeader))
        return canonical && plain && typeof claims === 'object' && claims !== null && acceptable({ ...claims })
      } catch {
        return false
      }
    }
    const validTokens = pool.filter((_token, index) => index % 6 < 2 && index < 24)
    const change = fc.tuple(
      fc.nat(),
      fc.constantFrom('set', 'cut', 'add'),
      fc.constantFrom('.', '=', 'A', 'e', '-', '_', '+', ' ', '\n', '{', 'é'),
    )
    const cases = fc.oneof(
      { weight: 30, arbitrary: fc.constantFrom(...validTokens) },
      { weight: 20, arbitrary: fc.constantFrom(...pool) },
      // Parts of one token with the signature of another.
      {
        weight: 15,
        arbitrary: fc.tuple(fc.constantFrom(...pool), fc.constantFrom(...pool), fc.nat(2)).map(([one, other, at]) =>
          one
            .split('.')
            .with(at, other.split('.')[at] ?? '')
            .join('.'),
        ),
      },
      {
        weight: 35,
        arbitrary: fc
          .tuple(fc.constantFrom(...pool), fc.array(change, { minLength: 1, maxLength: 2 }))
          .map(([token, changes]) => {
            const letters = [...token]
            for (const [at, kind, letter] of changes)
              letters.splice(at % letters.length, kind === 'add' ? 0 : 1, ...(kind === 'cut' ? [] : [letter]))
            return letters.join('')
          }),
      },
    )
    // Results of jose are cached, because tokens of the pool repeat.
    const cached = new Map<string, boolean>()
    await fc.assert(
      fc.asyncProperty(cases, async (token) => {
        const expected = cached.get(token) ?? (await byJose(token))
        cached.set(token, expected)
        expect(verifyJwt(token, policy, now * 1000).ok).toBe(expected)
      }),
      { numRuns: fuzzCases(2_000) },
    )
  }, 300_000)
})

describe('parseBearer', () => {
  test.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['Basic abc', undefined],
    ['Bearerabc', undefined],
    ['Bearer abc', 'abc'],
    ['bearer  abc', 'abc'],
    ['BEARER a b', 'a b'],
    ['Bearer', ''],
    ['Bearer ', ''],
    ['Bearer a\nb', 'a\nb'],
    [' Bearer abc', undefined],
    ['xBearer abc', undefined],
    ['Bearer\tabc', undefined],
    ['Basic Bearer abc', undefined],
  ])('%j: %j', (header, token) => {
    expect(parseBearer(header)).toBe(token)
  })
})

describe('parseKid', () => {
  const tokenWith = (header: unknown): string => `${base64url(header)}.a.b`

  test.each([['', '.', 'x.y.z', tokenWith('[]'), tokenWith({ kid: 1 }), tokenWith({}), 'x'.repeat(100_000)]])(
    'returns undefined for %j',
    (...tokens) => {
      for (const token of tokens) expect(parseKid(token)).toBeUndefined()
    },
  )

  test('reads at most 256 characters, from a token of at most 8192', () => {
    expect(parseKid(tokenWith({ kid: 'k'.repeat(256) }))).toBe('k'.repeat(256))
    expect(parseKid(tokenWith({ kid: 'k'.repeat(257) }))).toBeUndefined()
    const token = tokenWith({ kid: 'k' })
    expect(parseKid(token.padEnd(8_192, 'x'))).toBe('k')
    expect(parseKid(token.padEnd(8_193, 'x'))).toBeUndefined()
  })

  test('ignores the other parts', () => {
    expect(parseKid(base64url({ kid: 'k' }))).toBe('k')
    expect(parseKid(`${tokenWith({ kid: 'k' })}.c.d.=`)).toBe('k')
  })
})

describe('parseJwt', () => {
  test('returns the parts and the signed bytes', () => {
    const header = base64url({ alg: 'none' })
    const claims = base64url('{"__proto__":1,"é":"ü"}')
    const parsed = parseJwt(`${header}.${claims}.AQID`)
    expect(parsed?.header).toEqual({ alg: 'none' })
    expect(Object.entries(parsed?.claims ?? {})).toEqual([
      ['__proto__', 1],
      ['é', 'ü'],
    ])
    expect(parsed?.signature).toEqual(Buffer.of(1, 2, 3))
    expect(parsed?.signed.toString()).toBe(`${header}.${claims}`)
  })

  test('accepts at most 8192 characters', () => {
    const empty = base64url({})
    const longest = `${empty}.${empty}.`
    expect(parseJwt(longest + 'A'.repeat(8_192 - longest.length))).toBeDefined()
    expect(parseJwt(longest + 'A'.repeat(8_194 - longest.length))).toBeUndefined()
  })

  test.each(['', 'e30', 'e30.e30', 'e30.e30.AA.AA', 'e30.e30.AA.', 'e30.e30.A', 'e30.e30.AB', 'e31.e30.AA', '.e30.AA'])(
    'returns undefined for %j',
    (token) => {
      expect(parseJwt(token)).toBeUndefined()
    },
  )
})

describe('parseNarrowingClaims', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ methods: [] }, 'methods is invalid'],
    [{ addresses: 'x' }, 'addresses is invalid'],
    [{ origins: null }, 'origins is invalid'],
    [{ methods: ['eth_call'], addresses: [], origins: [] }, 'addresses is invalid'],
    [{ origins: ['*'] }, 'origins is invalid'],
    [{ methods: ['eth_call'], origins: ['*'] }, 'methods, origins are invalid'],
    [{ Methods: ['eth_call'] }, 'the claim methods must be in lower case'],
    [{ ADDRESSES: [] }, 'the claim addresses must be in lower case'],
    [{ methods: ['eth_call'], 'origin\u017f': [] }, 'the claim origins must be in lower case'],
  ])('reports the invalid claim of %j', (claims, problem) => {
    expect(parseNarrowingClaims(claims)).toEqual({ problem })
  })

  test('returns undefined without own narrowing claims', () => {
    expect(parseNarrowingClaims({ exp: 1, method: [], methodsAllowed: [], ips: ['x'] })).toBeUndefined()
    expect(parseNarrowingClaims(Object.create({ methods: [] }) as Record<string, unknown>)).toBeUndefined()
  })

  test('each of the three narrows alone', () => {
    const getReasons = (claims: Record<string, unknown>): readonly unknown[] => {
      const allow = parseNarrowingClaims(claims)
      if (allow === undefined || 'problem' in allow) throw new Error(JSON.stringify(allow))
      return [
        allow.rejectCall({ method: 'eth_call', params: `[{"to":"0x${'b2'.repeat(20)}"}]` })?.reason,
        allow.rejectRequest({ ip: undefined, userAgent: undefined, origin: 'https://evil.example' })?.reason,
      ]
    }
    expect(getReasons({ methods: ['eth_chainId'] })).toEqual(['method_not_allowed', undefined])
    expect(getReasons({ addresses: [`0x${'a1'.repeat(20)}`] })).toEqual(['address_not_allowed', undefined])
    expect(getReasons({ origins: ['https://app.example.com'] })).toEqual([undefined, 'origin_not_allowed'])
  })

  test('a rejection names the token, not the settings of the app', () => {
    const allow = parseNarrowingClaims({ methods: ['eth_chainId'] })
    if (allow === undefined || 'problem' in allow) throw new Error(JSON.stringify(allow))
    expect(allow.rejectCall({ method: 'eth_gasPrice', params: undefined })?.message).toBe(
      'rejected due to the claims of the JWT: method eth_gasPrice not allowed',
    )
  })
})
