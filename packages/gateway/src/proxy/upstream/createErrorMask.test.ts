import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import { readableRuns, secretSpellings } from '@keyrail/core/test/secretSpellings.ts'
import { describe, expect, test } from 'vitest'
import { createErrorMask } from './createErrorMask.ts'

const maskText = (text: string, secrets = ['user/pass-Wörd'], wholes: readonly string[] = []): string =>
  createErrorMask({ secrets, wholes })(Buffer.from(text)).toString()

describe('createErrorMask', () => {
  test.each([
    ['unencoded', 'user/pass-Wörd'],
    ['in another letter case', 'USER/PASS-wörd'],
    ['with JSON escapes', String.raw`\u0075ser\/pass-W\u00f6rd`],
    ['with percent escapes', '%75ser%2Fpass-W%C3%B6rd'],
    ['with percent escapes in JSON escapes', String.raw`\u002575ser%2fpass-W\u0025c3%B6rd`],
    ['in base64', Buffer.from('user/pass-Wörd').toString('base64url')],
  ])('masks a secret %s', (_, spelled) => {
    expect(maskText(`{"message":"at ${spelled} é"}`)).toBe('{"message":"at *** é"}')
  })

  test.each(Object.entries(secretSpellings))("masks a node's key %s", (_, spell) => {
    const key = 'Zx9_notARealKey-0123456789abcdefghij'
    const error = JSON.stringify({ code: -32000, message: `at <${spell(key)}> é`, data: [spell(key)] })
    const shown = maskText(error, [key])
    expect(readableRuns(shown, key)).toEqual([])
    expect(JSON.parse(shown)).toMatchObject({ code: -32000, message: expect.stringMatching(/^at <.*> é$/s) as unknown })
  })

  test('masks a secret after an escape without cutting the escape', () => {
    expect(maskText(String.raw`{"message":"\nsecret-of-mine"}`, ['nsecret-of-mine'])).toBe(
      String.raw`{"message":"\n***"}`,
    )
  })

  test('masks a whole only as a whole', () => {
    const error = '{"message":"see https://docs.example, not https://node.example:8545/v2"}'
    expect(maskText(error, [], ['https://node.example:8545/v2', 'node.example:8545'])).toBe(
      '{"message":"see https://docs.example, not ***"}',
    )
  })

  test('does not join the name of a member with its value', () => {
    expect(maskText('{"code":1,"message":"notARealKey"}', ['message:notARealKey'])).toBe('{"code":1,"message":"***"}')
  })

  test('replaces an error that is invalid without its secret', () => {
    for (const error of ['{"code":12345678,"message":"x"}', '{"data":["1234"],"5678":1}'])
      expect(maskText(error, ['12345678'])).toBe('{"code":-32603,"message":"***"}')
  })

  test('returns the same bytes if there is no secret', () => {
    for (const text of [
      String.raw`{"message":"100%25 \u0041"}`,
      '{"message":"somethi"}',
      `{"data":"0x${'ab'.repeat(5_000)}"}`,
    ]) {
      const value = Buffer.from(text)
      expect(createErrorMask({ secrets: ['something'], wholes: [] })(value)).toBe(value)
    }
    const broken = Buffer.from('{"message":"\xff\xfe"}', 'latin1')
    expect(createErrorMask({ secrets: ['something'], wholes: [] })(broken)).toBe(broken)
  })

  test('takes time in proportion to the text', () => {
    const text = `{"message":"${String.raw`\u0025%41`.repeat(200_000)}"}`
    expect(cpuMs(() => expect(maskText(text)).toBe(text))).toBeLessThan(5_000)
  })
})
