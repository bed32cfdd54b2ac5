import { snippet, snippetLanguages, snippetMethods } from '@keyrail/snippets'
import { describe, expect, test } from 'vitest'
import { highlight } from './highlight.ts'

describe.each(snippetLanguages)('in $id', ({ id: language, libraries }) => {
  test('the parts of every program join to the program', () => {
    for (const { id: library } of libraries) {
      for (const { id: method } of snippetMethods) {
        for (const withKeyrail of [false, true]) {
          const { text } = snippet({ method, library, withKeyrail, address: { baseUrl: 'https://a.example' } })
          const tokens = highlight(text, language)
          expect(tokens.map((token) => token.text).join('')).toBe(text)
          expect(tokens.some(({ kind }) => kind === 'string')).toBe(true)
        }
      }
    }
  })
})

test('a comment in a string is a string, a string in a comment is a comment', () => {
  const kinds = (text: string): string[] =>
    highlight(text, 'javascript').flatMap(({ text: part, kind }) => (kind === 'plain' ? [] : [`${kind} ${part}`]))
  expect(kinds("call('https://a') // don't")).toEqual(["string 'https://a'", "comment // don't"])
})
