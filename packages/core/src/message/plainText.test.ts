import { describe, expect, test } from 'vitest'
import { cpuMs } from '../../test/cpuMs.ts'
import { plainText } from './plainText.ts'

describe('plainText', () => {
  test.each(['<', '<title', '<title ', ' <', '< '])('does not block on a page of nothing but %j', (part) => {
    const page = `<${part.repeat(10_000)}`
    const read = (): void => {
      for (let time = 0; time < 100; time++) plainText(page)
    }
    expect(cpuMs(read)).toBeLessThan(1_000)
  })

  test('puts a text on one line', () => {
    expect(plainText(' a\n\tb  c ')).toBe('a b c')
  })

  test('takes the title of a page', () => {
    expect(plainText('<!doctype html><title lang="en">\n502 Bad Gateway</title><p>nginx')).toBe('502 Bad Gateway')
  })

  test('takes what is left without tags where there is no title', () => {
    expect(plainText('<h1>Down</h1><p>for a while')).toBe('Down for a while')
  })

  test('keeps what only looks like a tag', () => {
    expect(plainText('json: cannot unmarshal <nil> into x')).toBe('json: cannot unmarshal <nil> into x')
  })
})
