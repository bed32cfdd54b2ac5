import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lockFile } from './lockFile.ts'

let folder = ''
let file = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  file = join(folder, 'lock')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const rejection = (holder: number) => ({
  message: `logs.csv is being written by process ${holder}`,
  fix: 'wait for that one',
})

describe('lockFile', () => {
  test('is held until it is given free', () => {
    const release = lockFile(file, rejection)
    expect(existsSync(file)).toBe(true)
    expect(() => lockFile(file, rejection)).toThrow(`process ${process.pid}`)
    release()
    expect(existsSync(file)).toBe(false)
  })

  test('rejects a second process while the first runs', () => {
    writeFileSync(file, `${process.ppid}\n`)
    expect(() => lockFile(file, rejection)).toThrow(
      expect.objectContaining({
        message: `logs.csv is being written by process ${process.ppid}`,
        hint: expect.stringContaining(`delete ${file}`),
      }),
    )
    expect(existsSync(file)).toBe(true)
  })

  test.each([
    ['a process that was killed', () => String(spawnSync(process.execPath, ['--version']).pid)],
    ['a killed process with the number that this one has now', () => String(process.pid)],
    ['nobody', () => ''],
  ])('takes over from %s', (_what, holder) => {
    writeFileSync(file, holder())
    lockFile(file, rejection)()
    expect(existsSync(file)).toBe(false)
  })
})
