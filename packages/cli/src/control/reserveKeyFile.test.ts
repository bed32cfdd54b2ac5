import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reserveKeyFile } from './reserveKeyFile.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-key-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const createKey = (letter: string): string => `kr_t${letter.repeat(39)}`

test('creates the folder, writes the key and leaves no other file', () => {
  const file = reserveKeyFile(join(folder, 'keys/shop'))
  file.write(createKey('a'))
  file.release()
  expect(readdirSync(join(folder, 'keys'))).toEqual(['shop'])
  expect(readFileSync(file.path, 'utf8')).toBe(`${createKey('a')}\n`)
  if (process.platform !== 'win32') expect(statSync(file.path).mode & 0o777).toBe(0o600)
})

test('leaves nothing without a key', () => {
  reserveKeyFile(join(folder, 'shop')).release()
  expect(readdirSync(folder)).toEqual([])
})

test('replaces a key file if requested, but no other file', () => {
  const path = join(folder, 'shop')
  writeFileSync(path, `${createKey('a')}\n`)
  expect(() => reserveKeyFile(path)).toThrow(/already exists/)
  const file = reserveKeyFile(path, { replaces: true })
  expect(readFileSync(path, 'utf8')).toBe(`${createKey('a')}\n`)
  file.write(createKey('b'))
  file.release()
  expect(readFileSync(path, 'utf8')).toBe(`${createKey('b')}\n`)
  writeFileSync(path, 'API_KEY=one of several\n')
  expect(() => reserveKeyFile(path, { replaces: true })).toThrow(/already exists/)
  expect(readFileSync(path, 'utf8')).toBe('API_KEY=one of several\n')
})

test('rejects a path that cannot be written before the key is created', () => {
  writeFileSync(join(folder, 'file'), '')
  expect(() => reserveKeyFile(join(folder, 'file/shop'))).toThrow(/^cannot write .* \(ENOTDIR\)/)
  expect(() => reserveKeyFile(folder)).toThrow(/^cannot write .* \(EISDIR\)/)
})
