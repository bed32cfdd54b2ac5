import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import { expect, test } from 'vitest'
import { maskSecrets } from './maskSecrets.ts'

const masked = (text: string, secrets = ['user/pass-Wörd']): string =>
  maskSecrets(Buffer.from(text), secrets).toString()

test.each([
  ['as it is', 'user/pass-Wörd'],
  ['in another case', 'USER/PASS-wörd'],
  ['with JSON escapes', String.raw`\u0075ser\/pass-W\u00f6rd`],
  ['with percent escapes', '%75ser%2Fpass-W%C3%B6rd'],
  ['with percent escapes in JSON escapes', String.raw`\u002575ser%2fpass-W\u0025c3%B6rd`],
])('a secret is masked %s', (_, spelled) => {
  expect(masked(`{"message":"at ${spelled} é"}`)).toBe('{"message":"at *** é"}')
})

test('an escape that only looks like the start of a secret stays whole', () => {
  const text = String.raw`"\nsecret-of-mine"`
  expect(masked(text, ['nsecret-of-mine'])).toBe(text)
})

test('what holds no secret stays the same bytes', () => {
  const value = Buffer.from(String.raw`{"message":"100%25 \u0041"}`)
  expect(maskSecrets(value, ['something'])).toBe(value)
})

test('a long text of escapes is read in linear time', () => {
  const text = String.raw`\u0025%41`.repeat(200_000)
  expect(cpuMs(() => expect(masked(text)).toBe(text))).toBeLessThan(5_000)
})
