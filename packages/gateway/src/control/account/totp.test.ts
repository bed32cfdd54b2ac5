import { expect, test } from 'vitest'
import { createTotpSecret, findTotpStep, isTotpCode, toTotpUrl } from './totp.ts'

/** The secret of RFC 6238, appendix B: `12345678901234567890`. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_234_567_890, '005924'],
  [20_000_000_000, '353130'],
])('finds the step of the codes of RFC 6238 at %i s', (seconds, code) => {
  const step = Math.floor(seconds / 30)
  expect(findTotpStep(secret, code, seconds * 1_000)).toBe(step)
  // A clock may be one step off.
  expect(findTotpStep(secret, code, (seconds + 30) * 1_000)).toBe(step)
  expect(findTotpStep(secret, code, (seconds - 30) * 1_000)).toBe(step)
  expect(findTotpStep(secret, code, (seconds + 60) * 1_000)).toBeUndefined()
  expect(findTotpStep(secret, code, (seconds - 60) * 1_000)).toBeUndefined()
})

test('secrets have 160 random bits, and their URL is one that apps read', () => {
  const [one, two] = [createTotpSecret(), createTotpSecret()]
  expect(one).toMatch(/^[A-Z2-7]{32}$/)
  expect(one).not.toBe(two)
  const url = new URL(toTotpUrl(secret, { issuer: 'node.example:8443', label: 'ann+1@example.org' }))
  expect([url.protocol, url.host]).toEqual(['otpauth:', 'totp'])
  expect(decodeURIComponent(url.pathname)).toBe('/node.example:8443:ann+1@example.org')
  expect(url.searchParams.get('secret')).toBe(secret)
})

test.each(['28708', '2870821', '28708a', '٢٨٧٠٨٢', ''])('%s is no code', (text) => {
  expect(isTotpCode(text)).toBe(false)
})
