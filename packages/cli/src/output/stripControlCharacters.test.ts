import { expect, test } from 'vitest'
import { stripControlCharacters } from './stripControlCharacters.ts'

test('removes control characters and bidirectional marks', () => {
  expect(stripControlCharacters('a\u001B[2Jb\r\nc\u202Ed\u0007')).toBe('a[2Jbcd')
  expect(stripControlCharacters('Kassa nº 1, öffentlich … 店')).toBe('Kassa nº 1, öffentlich … 店')
})
