import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { compactVerify, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { compileJwtPolicy } from './jwtPolicy.ts'
import type { JwtSettings } from './jwtPolicy.ts'
import type { JwtResult } from './jwtResult.ts'
import { readNarrowingClaims } from './narrowingClaims.ts'
import { kidOf, parseJwt } from './parseJwt.ts'
import { readBearer } from './readBearer.ts'
import { rejectJwt } from './rejectJwt.ts'
import { verifyJwt } from './verifyJwt.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const p256 = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const ed25519 = generateKeyPairSync('ed25519')
const stranger = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const spki = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString()
const keys = [
  { kid: 'rsa', pem: spki(rsa.publicKey) },
  { kid: 'ec', pem: spki(p256.publicKey) },
  { kid: 'ed', pem: spki(ed25519.publicKey) },
]
const publicOf: Readonly<Record<string, KeyObject>> = { rsa: rsa.publicKey, ec: p256.publicKey, ed: ed25519.publicKey }

const now = 1_800_000_000
const hour = now + 3600
const base64url = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A token made by hand, so that it may be wrong in any way; signed rightly with the P-256 key unless told otherwise. */
const make = (header: unknown, claims: unknown, key: KeyObject = p256.privateKey): string => {
  const signed = `${base64url(header)}.${base64url(claims)}`
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}
const es256 = { alg: 'ES256', kid: 'ec' }
const good = { exp: hour }

const judge = (token: string | undefined, settings: Partial<JwtSettings> = {}): JwtResult =>
  verifyJwt(token, compileJwtPolicy({ keys, ...settings }), now * 1000)
const checkOf = (token: string | undefined, settings: Partial<JwtSettings> = {}): string => {
  const verdict = judge(token, settings)
  return verdict.ok ? 'ok' : verdict.check
}

describe('verifyJwt', () => {
  test.each([
    ['RS256', 'rsa', rsa.privateKey],
    ['RS384', 'rsa', rsa.privateKey],
    ['RS512', 'rsa', rsa.privateKey],
    ['ES256', 'ec', p256.privateKey],
    ['EdDSA', 'ed', ed25519.privateKey],
  ])('takes a token that jose signed by %s', async (alg, kid, key) => {
    const token = await new SignJWT({ exp: hour }).setProtectedHeader({ alg, kid, typ: 'JWT' }).sign(key)
    expect(judge(token)).toEqual({ ok: true, kid, untilMs: hour * 1000, allow: undefined })
    expect(kidOf(token)).toBe(kid)
    for (const other of ['rsa', 'ec', 'ed'].filter((name) => name !== kid)) {
      const crossed = await new SignJWT({ exp: hour }).setProtectedHeader({ alg, kid: other }).sign(key)
      expect(checkOf(crossed)).toBe('algorithm')
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
    expect(checkOf(make({ alg, kid }, good))).toBe('algorithm')
    expect(checkOf(`${base64url({ alg, kid })}.${base64url(good)}.`)).toBe('algorithm')
  })

  test.each([
    ['rsa', 'the alg of this kid is RS256 or RS384 or RS512'],
    ['ec', 'the alg of this kid is ES256'],
    ['ed', 'the alg of this kid is EdDSA'],
  ])('a wrong alg for the key %s: %s', (kid, message) => {
    expect(judge(make({ alg: 'none', kid }, good))).toMatchObject({ check: 'algorithm', message, untilMs: Infinity })
  })

  test('a public key is no secret to sign with', () => {
    for (const { kid, pem } of keys) {
      for (const secret of [pem, pem.trim(), Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64')]) {
        for (const alg of ['HS256', 'RS256', 'ES256', 'EdDSA']) {
          const signed = `${base64url({ alg, kid })}.${base64url(good)}`
          const token = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
          expect(['algorithm', 'signature']).toContain(checkOf(token))
        }
      }
    }
  })

  test.each(['crit', 'jku', 'x5u', 'jwk', 'x5c', 'b64', 'zip', 'enc'])('rejects the header %s', (name) => {
    for (const value of [null, [], 'https://evil.example/keys', stranger.publicKey.export({ format: 'jwk' })])
      expect(judge(make({ ...es256, [name]: value }, good))).toMatchObject({
        ok: false,
        check: 'header',
        message: `header ${name} is not taken`,
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
    expect(judge(make(header, good))).toMatchObject({ check: 'kid', message })
  })

  test('rejects what another signed, what was changed after, and a signature in another form', () => {
    expect(checkOf(make(es256, good, stranger.privateKey))).toBe('signature')
    const [header, , signature] = make(es256, good).split('.')
    expect(checkOf(`${header}.${base64url({ exp: hour + 1 })}.${signature}`)).toBe('signature')
    expect(checkOf(`${header}.${base64url(good)}.`)).toBe('signature')
    expect(checkOf(`${header}.${base64url(good)}.${Buffer.alloc(64).toString('base64url')}`)).toBe('signature')
    const der = sign('sha256', Buffer.from(`${header}.${base64url(good)}`), p256.privateKey)
    expect(checkOf(`${header}.${base64url(good)}.${der.toString('base64url')}`)).toBe('signature')
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
  ])('of the claims %j: %s', (claims, expected) => {
    expect(checkOf(make(es256, claims))).toBe(expected)
  })

  test.each<[Record<string, unknown>, string, number]>([
    [{}, 'no exp', Infinity],
    [{ exp: 'x' }, 'exp is no time in seconds', Infinity],
    [{ exp: now }, 'expired', Infinity],
    [{ exp: now + 86_430 + 7 }, 'exp is more than 86400 seconds ahead', (now + 7) * 1000],
    [{ exp: hour, nbf: '0' }, 'nbf is no time in seconds', Infinity],
    [{ exp: hour, nbf: now + 37 }, 'not valid yet', (now + 7) * 1000],
    [{ exp: hour, iat: null }, 'iat is no time in seconds', Infinity],
    [{ exp: hour, iat: now + 37 }, 'issued in the future', (now + 7) * 1000],
    [{ exp: hour, aud: 'them' }, "aud is not this app's", Infinity],
    [{ exp: hour, aud: 'us', methods: [] }, 'methods cannot be read', Infinity],
  ])('of the claims %j: the message %j, until %s', (claims, message, untilMs) => {
    expect(judge(make(es256, claims), { audience: 'us' })).toMatchObject({ ok: false, message, untilMs })
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
  ])('where the app names an audience, aud %j: %s', (aud, expected) => {
    expect(checkOf(make(es256, { ...good, aud }), { audience: 'us' })).toBe(expected)
  })

  test('the longest lifetime is the app’s to set', () => {
    expect(checkOf(make(es256, { exp: now + 91 }), { maxLifetimeS: 60 })).toBe('lifetime')
    expect(checkOf(make(es256, { exp: now + 90 }), { maxLifetimeS: 60 })).toBe('ok')
  })

  test('narrowing claims give a list to ask besides the app’s own', () => {
    const address = `0x${'a1'.repeat(20)}`
    const verdict = judge(
      make(es256, {
        ...good,
        methods: ['eth_call'],
        addresses: [address.toUpperCase().replace('0X', '0x')],
        origins: ['*.example.com'],
      }),
    )
    const allow = verdict.ok ? verdict.allow : undefined
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
  ])('a narrowing claim that cannot be read is no leave for everything: %j', (claims) => {
    expect(checkOf(make(es256, { ...good, ...claims }))).toBe('claims')
  })

  const valid = make(es256, good)
  const [head = '', body = '', tail = ''] = valid.split('.')
  test.each<[string, string]>([
    ['empty', ''],
    ['a word', 'token'],
    ['two parts', `${head}.${body}`],
    ['four parts', `${valid}.`],
    ['a token encrypted', `${valid}.x.y`],
    ['space around', ` ${valid}`],
    ['padding', `${valid}=`],
    ['base64 of the other kind', `${head}.${body}.${tail.slice(0, -4)}+/AA`],
    // The last letter of 64 bytes has four bits that stand for nothing.
    ['bits left over', `${head}.${body}.${tail.slice(0, -1)}${{ A: 'B', Q: 'R', g: 'h', w: 'x' }[tail.slice(-1)]}`],
    ['a claim twice', make(es256, `{"exp":${hour},"exp":${hour}}`)],
    ['a claim twice, once escaped', make(es256, `{"exp":${hour},"\\u0065xp":${hour}}`)],
    ['a header twice', make('{"alg":"ES256","kid":"ec","kid":"ec"}', good)],
    ['claims that are a list', make(es256, [good])],
    ['claims that are null', make(es256, 'null')],
    ['claims that are no JSON', make(es256, `{"exp":${hour}`)],
    ['claims that are no UTF-8', `${head}.${Buffer.from('{"a":"\xff"}', 'latin1').toString('base64url')}.${tail}`],
    ['a header that is a text', make('"ES256"', good)],
    ['more than 8192 characters', make(es256, { ...good, x: 'x'.repeat(8_192) })],
  ])('what is no token is malformed: %s', (_name, token) => {
    expect(judge(token)).toEqual({ ok: false, check: 'malformed', message: 'malformed', untilMs: Infinity })
  })

  test('a name with an escape is read as what it says', () => {
    for (let round = 0; round < 3; round += 1) {
      judge(make(es256, `{"exp":${hour},"\\\\u006dethods":1,"\\\\":1}`))
      expect(checkOf(make(es256, `{"exp":${hour},"\\u006dethods":[]}`))).toBe('claims')
    }
  })

  test('rejects as the table says, and tells one who sent nothing how to send', () => {
    expect(rejectJwt(judge(valid))).toBeUndefined()
    expect(rejectJwt(judge(make(es256, { exp: now })))).toEqual({
      status: 401,
      code: -32016,
      message: 'invalid JWT: expired',
      reason: 'jwt_invalid',
      data: { check: 'expiry' },
      headers: ['WWW-Authenticate', 'Bearer error="invalid_token"'],
    })
    expect(rejectJwt(judge(undefined))).toMatchObject({
      message: 'invalid JWT: none was sent: use Authorization: Bearer',
      headers: ['WWW-Authenticate', 'Bearer'],
    })
  })

  test('no verdict repeats anything of a token', () => {
    const mark = 's3cretmark'
    const tokens = [
      make({ ...es256, kid: mark }, good),
      make({ ...es256, alg: mark }, good),
      make({ ...es256, [mark]: mark, jku: mark }, good),
      make(es256, { exp: mark }),
      make(es256, { ...good, nbf: mark }),
      make(es256, { ...good, methods: [mark] }),
      mark,
    ]
    for (const token of tokens) {
      const verdict = judge(token)
      expect(verdict.ok).toBe(false)
      expect(JSON.stringify(verdict)).not.toContain(mark)
    }
  })

  test('agrees with jose and with the claims read by hand, on good tokens and on changed ones', async () => {
    const signers = [
      { alg: 'RS256', kid: 'rsa', key: rsa.privateKey },
      { alg: 'RS512', kid: 'rsa', key: rsa.privateKey },
      { alg: 'ES256', kid: 'ec', key: p256.privateKey },
      { alg: 'EdDSA', kid: 'ed', key: ed25519.privateKey },
      { alg: 'ES256', kid: 'ec', key: stranger.privateKey },
      { alg: 'ES256', kid: 'gone', key: p256.privateKey },
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
          ({ kid = '' }) => publicOf[kid] ?? Promise.reject(new Error('unknown kid')),
          { algorithms: ['RS256', 'RS384', 'RS512', 'ES256', 'EdDSA'] },
        )
        const claims: unknown = JSON.parse(Buffer.from(payload).toString())
        // What jose reads more freely than we do: other spellings of base64url.
        const canonical = token
          .split('.')
          .every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
        const plain = ['jku', 'x5u', 'jwk', 'x5c', 'zip', 'enc', 'b64'].every((name) => !(name in protectedHeader))
        return canonical && plain && typeof claims === 'object' && claims !== null && acceptable({ ...claims })
      } catch {
        return false
      }
    }
    const goodOnes = pool.filter((_token, index) => index % 6 < 2 && index < 24)
    const change = fc.tuple(
      fc.nat(),
      fc.constantFrom('set', 'cut', 'add'),
      fc.constantFrom('.', '=', 'A', 'e', '-', '_', '+', ' ', '\n', '{', 'é'),
    )
    const cases = fc.oneof(
      { weight: 30, arbitrary: fc.constantFrom(...goodOnes) },
      { weight: 20, arbitrary: fc.constantFrom(...pool) },
      // Parts of one token under the signature of another.
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
    // jose's answers are remembered: the pool's own tokens come again and again.
    const remembered = new Map<string, boolean>()
    await fc.assert(
      fc.asyncProperty(cases, async (token) => {
        const expected = remembered.get(token) ?? (await byJose(token))
        remembered.set(token, expected)
        expect(verifyJwt(token, policy, now * 1000).ok).toBe(expected)
      }),
      { numRuns: fuzzCases(2_000) },
    )
  }, 300_000)
})

describe('readBearer', () => {
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
  ])('of %j: %j', (header, token) => {
    expect(readBearer(header)).toBe(token)
  })
})

describe('kidOf', () => {
  const tokenWith = (header: unknown): string => `${base64url(header)}.a.b`

  test.each([['', '.', 'x.y.z', tokenWith('[]'), tokenWith({ kid: 1 }), tokenWith({}), 'x'.repeat(100_000)]])(
    'of what has none: none',
    (...tokens) => {
      for (const token of tokens) expect(kidOf(token)).toBeUndefined()
    },
  )

  test('reads at most 256 characters, from a token of at most 8192', () => {
    expect(kidOf(tokenWith({ kid: 'k'.repeat(256) }))).toBe('k'.repeat(256))
    expect(kidOf(tokenWith({ kid: 'k'.repeat(257) }))).toBeUndefined()
    const token = tokenWith({ kid: 'k' })
    expect(kidOf(token.padEnd(8_192, 'x'))).toBe('k')
    expect(kidOf(token.padEnd(8_193, 'x'))).toBeUndefined()
  })

  test('does not read the other parts', () => {
    expect(kidOf(base64url({ kid: 'k' }))).toBe('k')
    expect(kidOf(`${tokenWith({ kid: 'k' })}.c.d.=`)).toBe('k')
  })
})

describe('parseJwt', () => {
  test('returns the parts, and the bytes that are signed', () => {
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

  test('takes 8192 characters and no more', () => {
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

describe('readNarrowingClaims', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ methods: [] }, 'methods'],
    [{ addresses: 'x' }, 'addresses'],
    [{ origins: null }, 'origins'],
    [{ methods: ['eth_call'], addresses: [], origins: [] }, 'addresses'],
    [{ origins: ['*'] }, 'origins'],
    [{ methods: ['eth_call'], origins: ['*'] }, 'methods, origins'],
    [{ Methods: ['eth_call'] }, 'methods, whose name must be in lower case,'],
    [{ ADDRESSES: [] }, 'addresses, whose name must be in lower case,'],
    [{ methods: ['eth_call'], 'origin\u017f': [] }, 'origins, whose name must be in lower case,'],
  ])('names the claim in %j that cannot be read', (claims, bad) => {
    expect(readNarrowingClaims(claims)).toEqual({ bad })
  })

  test('returns undefined where no own claim narrows', () => {
    expect(readNarrowingClaims({ exp: 1, method: [], methodsAllowed: [], ips: ['x'] })).toBeUndefined()
    expect(readNarrowingClaims(Object.create({ methods: [] }) as Record<string, unknown>)).toBeUndefined()
  })

  test('each of the three narrows alone', () => {
    const rejects = (claims: Record<string, unknown>): readonly unknown[] => {
      const allow = readNarrowingClaims(claims)
      if (allow === undefined || 'bad' in allow) throw new Error(JSON.stringify(allow))
      return [
        allow.rejectCall({ method: 'eth_call', params: `[{"to":"0x${'b2'.repeat(20)}"}]` })?.reason,
        allow.rejectRequest({ ip: undefined, userAgent: undefined, origin: 'https://evil.example' })?.reason,
      ]
    }
    expect(rejects({ methods: ['eth_chainId'] })).toEqual(['method_not_allowed', undefined])
    expect(rejects({ addresses: [`0x${'a1'.repeat(20)}`] })).toEqual(['address_not_allowed', undefined])
    expect(rejects({ origins: ['https://app.example.com'] })).toEqual([undefined, 'origin_not_allowed'])
  })
})
