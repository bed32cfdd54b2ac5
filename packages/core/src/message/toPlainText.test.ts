import { describe, expect, test } from 'vitest'
import { ACCEPTED_GROWTH, costGrowth } from '../../test/costGrowth.ts'
import { toPlainText } from './toPlainText.ts'

describe('toPlainText', () => {
  test.each(['<', '<title', '<title ', ' <', '< '])('takes linear time for a page that repeats %j', (part) => {
    const growth = costGrowth(2_000 / part.length, (size) => {
      const page = `<${part.repeat(size)}`
      return () => toPlainText(page)
    })
    expect(growth).toBeLessThan(ACCEPTED_GROWTH)
  })

  test('reads only the first 2,000 characters', () => {
    expect(toPlainText(`${' '.repeat(1_990)}one two three`)).toBe('one two th')
  })

  test('puts a text on one line', () => {
    expect(toPlainText(' a\n\tb  c ')).toBe('a b c')
  })

  test('uses the title of a page', () => {
    expect(toPlainText('<!doctype html><title lang="en">\n502 Bad Gateway</title><p>nginx')).toBe('502 Bad Gateway')
  })

  test('uses the text without tags if there is no title', () => {
    expect(toPlainText('<h1>Down</h1><p>for a while')).toBe('Down for a while')
  })

  test('keeps text that only looks like a tag', () => {
    expect(toPlainText('json: cannot unmarshal <nil> into x')).toBe('json: cannot unmarshal <nil> into x')
  })
})
