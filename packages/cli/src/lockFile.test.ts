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

const describeError = (holder: number) => ({
  message: `process ${holder} is writing to logs.csv`,
  fix: 'wait until it finishes',
})

describe('lockFile', () => {
  test('is held until it is released', () => {
    const release = lockFile(file, describeError)
    expect(existsSync(file)).toBe(true)
    expect(() => lockFile(file, describeError)).toThrow(`process ${process.pid}`)
    release()
    expect(existsSync(file)).toBe(false)
  })

  test('a second release does not remove the lock of another process', () => {
    const release = lockFile(file, describeError)
    release()
    writeFileSync(file, `${process.ppid}\n`)
    release()
    expect(existsSync(file)).toBe(true)
    rmSync(file)
  })

  test('rejects a second process while the first is running', () => {
    writeFileSync(file, `${process.ppid}\n`)
    expect(() => lockFile(file, describeError)).toThrow(
      expect.objectContaining({
        message: `process ${process.ppid} is writing to logs.csv`,
        hint: expect.stringContaining(`delete ${file}`),
      }),
    )
    expect(existsSync(file)).toBe(true)
  })

  test.each([
    ['a killed process', () => String(spawnSync(process.execPath, ['--version']).pid)],
    ['a killed process with the id of this one', () => String(process.pid)],
    ['an empty file', () => ''],
  ])('takes over from %s', (_what, holder) => {
    writeFileSync(file, holder())
    lockFile(file, describeError)()
    expect(existsSync(file)).toBe(false)
  })
})
