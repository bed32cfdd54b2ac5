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

const keyOf = (letter: string): string => `kr_t${letter.repeat(39)}`

test('the key is there once it is written, in a folder that is made for it, and nothing is left beside it', () => {
  const file = reserveKeyFile(join(folder, 'keys/shop'))
  file.write(keyOf('a'))
  file.release()
  expect(readdirSync(join(folder, 'keys'))).toEqual(['shop'])
  expect(readFileSync(file.path, 'utf8')).toBe(`${keyOf('a')}\n`)
  if (process.platform !== 'win32') expect(statSync(file.path).mode & 0o777).toBe(0o600)
})

test('where no key came, nothing is left', () => {
  reserveKeyFile(join(folder, 'shop')).release()
  expect(readdirSync(folder)).toEqual([])
})

test('a file that holds a key gives way where that is asked for, and no other does', () => {
  const path = join(folder, 'shop')
  writeFileSync(path, `${keyOf('a')}\n`)
  expect(() => reserveKeyFile(path)).toThrow(/is there already/)
  const file = reserveKeyFile(path, { replaces: true })
  expect(readFileSync(path, 'utf8')).toBe(`${keyOf('a')}\n`)
  file.write(keyOf('b'))
  file.release()
  expect(readFileSync(path, 'utf8')).toBe(`${keyOf('b')}\n`)
  writeFileSync(path, 'API_KEY=one of several\n')
  expect(() => reserveKeyFile(path, { replaces: true })).toThrow(/is there already, and is left as it is/)
  expect(readFileSync(path, 'utf8')).toBe('API_KEY=one of several\n')
})

test('a place that cannot be written to is told before a key is made', () => {
  writeFileSync(join(folder, 'file'), '')
  expect(() => reserveKeyFile(join(folder, 'file/shop'))).toThrow(/cannot be written \(ENOTDIR\)/)
  expect(() => reserveKeyFile(folder)).toThrow(/cannot be written \(EISDIR\)/)
})
