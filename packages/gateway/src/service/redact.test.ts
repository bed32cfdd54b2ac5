import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { ACCEPTED_GROWTH, costGrowth } from '@keyrail/core/test/costGrowth.ts'
import { readableRuns, secretSpellings } from '@keyrail/core/test/secretSpellings.ts'
import { describe, expect, test } from 'vitest'
import { createApiKey } from '../lib/secrets/apiKey.ts'
import { createRedact } from './redact.ts'

describe('createRedact', () => {
  const secret = `p/ä"${randomBytes(12).toString('base64')}`
  const redact = createRedact([secret, 'abc'])

  test.each([
    ['unchanged', secret],
    ['in JSON', JSON.stringify({ secret })],
    ['percent-encoded', encodeURIComponent(secret)],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64url', Buffer.from(secret).toString('base64url')],
  ])('hides a known secret %s', (_how, text) => {
    const shown = redact(`before ${text} after`)
    expect(shown).toMatch(/^before .*\[secret\].* after$/)
    expect(shown).not.toContain(text)
  })

  test.each<[string, string]>([
    ['a key', createApiKey('app')],
    ['an access token', `krp_${'a1B2'.repeat(9)}`],
    ['a JWT', `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`],
    ['a JWT behind other letters', `jwt_eyJ${'a'.repeat(20)}.${'b'.repeat(20)}`],
    ['a PEM', generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['a password hash', '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g'],
  ])('hides %s by its shape', (_what, text) => {
    expect(redact(JSON.stringify({ at: `before ${text.trim()} after` }))).toBe('{"at":"before [secret] after"}')
  })

  test.each(['eyJ', 'eyJa.', 'kr_', '-----BEGIN A', '$argon2id$', '://a'])(
    'takes time linear in a text of many %j',
    (part) => {
      const growth = costGrowth(30_000 / part.length, (size) => {
        const text = part.repeat(size)
        return () => redact(text, 'routine')
      })
      expect(growth).toBeLessThan(ACCEPTED_GROWTH)
    },
  )

  test.each(Object.entries(secretSpellings))('hides the key of a node %s', (_, spell) => {
    const key = `kR4_${randomBytes(24).toString('base64url')}`
    const line = JSON.stringify({ event: 'failed', reason: `<${spell(key)}>` })
    const shown = createRedact([key])(line)
    expect(readableRuns(shown, key)).toEqual([])
    expect(JSON.parse(shown)).toMatchObject({ event: 'failed' })
  })

  test('hides a URL as a whole, and parts of its secrets', () => {
    const hide = createRedact(['https://node.example/v2/notARealKey12', 'notARealKey12'])
    expect(hide('POST https://node.example/v2/notARealKey12')).toBe('POST [secret]')
    expect(hide('see https://node.example/v3 and https://docs.example, key notARealK')).toBe(
      'see https://node.example/v3 and https://docs.example, key [secret]',
    )
  })

  test('hides whole secrets in a routine line', () => {
    expect(createRedact(['notARealKey12'])('key notARealKey12, notARealK', 'routine')).toBe('key [secret], notARealK')
  })

  test('hides the credentials of a URL', () => {
    expect(redact('http://keyrail:hunter22@db.example/name')).toBe('http://[secret]db.example/name')
  })

  test('leaves other text, and short words that look like keys, unchanged', () => {
    const text = '{"event":"request","keyId":"key_0123456789abcdefghij","abc":"krx_1"}'
    expect(redact(text)).toBe(text)
  })
})
