import { describe, expect, test } from 'vitest'
import { createSecretText, isSecretText } from './secretText.ts'

const kinds = ['accessToken', 'invite', 'link'] as const

describe.each(kinds)('a secret of kind %s', (kind) => {
  test('is random and has a recognizable format', () => {
    const texts = Array.from({ length: 200 }, () => createSecretText(kind))
    expect(new Set(texts).size).toBe(200)
    expect(texts.every((text) => text.length === 43 && isSecretText(kind, text))).toBe(true)
  })

  test('is rejected as another kind, or with any character changed', () => {
    const text = createSecretText(kind)
    expect(kinds.filter((other) => isSecretText(other, text))).toEqual([kind])
    for (let at = 0; at < text.length; at += 1) {
      const other = text[at] === 'x' ? 'y' : 'x'
      expect(isSecretText(kind, text.slice(0, at) + other + text.slice(at + 1))).toBe(false)
    }
    for (const wrong of ['', ` ${text}`, `${text}\n`, text.slice(1), `${text}0`])
      expect(isSecretText(kind, wrong)).toBe(false)
  })
})
