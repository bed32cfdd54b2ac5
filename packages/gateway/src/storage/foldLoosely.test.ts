import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldLoosely } from './foldLoosely.ts'

describe('foldLoosely', () => {
  test.each([
    ['case', 'Ann@Example.ORG', 'ann@example.org'],
    ['leading and trailing spaces', ' ann ', 'ann'],
    ['leading spaces that result from NFKC', '\u{fe72}', '\u{64c}'],
    ['a letter with its own capital', 'STRAẞE', 'STRASSE'],
    ['a letter and a combining mark', 'é', 'é'],
    ['a letter without a single capital', 'straße', 'STRASSE'],
    ['full-width letters', 'ａｐｐ', 'app'],
    ['two forms of sigma', 'ΣΑΣ', 'σας'],
  ])('ignores %s', (_, one, other) => {
    expect(foldLoosely(one)).toBe(foldLoosely(other))
  })

  test.each([
    ['app', 'app 1'],
    ['a b', 'ab'],
    ['e', 'é'],
  ])('distinguishes %s and %s', (one, other) => {
    expect(foldLoosely(one)).not.toBe(foldLoosely(other))
  })

  test('folding twice changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(foldLoosely(foldLoosely(text))).toBe(foldLoosely(text))
      }),
    )
  })
})
