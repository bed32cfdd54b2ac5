import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldText } from './foldText.ts'

describe('foldText', () => {
  test.each([
    ['case', 'Ann@Example.ORG', 'ann@example.org'],
    ['outer spaces', ' ann ', 'ann'],
    ['outer spaces that a letter turns into', '\u{fe72}', '\u{64c}'],
    ['a capital of its own', 'STRAẞE', 'STRASSE'],
    ['letters of two parts', 'é', 'é'],
    ['letters that have no one capital', 'straße', 'STRASSE'],
    ['wide letters', 'ａｐｐ', 'app'],
    ['two forms of sigma', 'ΣΑΣ', 'σας'],
  ])('takes texts for the same that differ in %s', (_, one, other) => {
    expect(foldText(one)).toBe(foldText(other))
  })

  test.each([
    ['app', 'app 1'],
    ['a b', 'ab'],
    ['e', 'é'],
  ])('keeps %s and %s apart', (one, other) => {
    expect(foldText(one)).not.toBe(foldText(other))
  })

  test('changes nothing that it has folded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(foldText(foldText(text))).toBe(foldText(text))
      }),
    )
  })
})
