import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSecretFile } from './readSecretFile.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-secret-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const words = { name: 'token file', content: 'token', hint: 'make one' }
const file = (text: string): string => {
  const path = join(folder, 'secret')
  writeFileSync(path, text)
  return path
}

test.each(['krp_abc', 'krp_abc\n', '\r\n  krp_abc \r\n\r\n'])('reads the line of %j', (text) => {
  expect(readSecretFile(file(text), words)).toBe('krp_abc')
})

test('errors do not contain the content', () => {
  expect(() => readSecretFile(file(' \n'), words)).toThrow(/^the token file .* is empty$/)
  expect(() => readSecretFile(file('one\ntwo'), words)).toThrow(/^the token file .*secret has more than one line$/)
  expect(() => readSecretFile(join(folder, 'none'), words)).toThrow(/^cannot read the token file .* \(ENOENT\)$/)
})
