import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { createApiKey } from '@keyrail/gateway'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDevState } from './devState.ts'
import { writeEnvFile } from './envFile.ts'

let room = ''
let file = ''
beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  file = join(room, 'folder', 'local.env')
})
afterEach(() => rmSync(room, { recursive: true, force: true }))

const service = (url: string) => ({ url, app: { ...createDevState().app, addresses: { testnet: '', mainnet: '' } } })

describe('writeEnvFile', () => {
  test('writes the address and the key as variables, and removes them again', () => {
    const running = service('http://127.0.0.1:7245')
    const remove = writeEnvFile(file, running)
    expect(parseEnv(readFileSync(file, 'utf8'))).toEqual({
      KEYRAIL_BASE_URL: 'http://127.0.0.1:7245/testnet',
      KEYRAIL_API_KEY: running.app.apiKey,
    })
    remove()
    remove()
    expect(existsSync(file)).toBe(false)
  })

  test('replaces what an earlier service left, and leaves what a later one wrote', () => {
    const removeFirst = writeEnvFile(file, service('http://127.0.0.1:1'))
    const removeSecond = writeEnvFile(file, service('http://127.0.0.1:2'))
    removeFirst()
    expect(readFileSync(file, 'utf8')).toContain('http://127.0.0.1:2/testnet')
    removeSecond()
    expect(existsSync(file)).toBe(false)
  })

  test.each(['MY_OWN=1\n', ''])("leaves somebody's own file of %j as it is", (own) => {
    const mine = join(room, '.env')
    writeFileSync(mine, own)
    expect(() => writeEnvFile(mine, service('http://127.0.0.1:1'))).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('was not written by keyrail dev'),
        hint: expect.stringContaining('--env'),
      }),
    )
    expect(readFileSync(mine, 'utf8')).toBe(own)
  })

  test.skipIf(process.platform === 'win32')('nobody else can read it, whatever stood there before', () => {
    writeEnvFile(file, service('http://127.0.0.1:1'))
    rmSync(file)
    const elsewhere = join(room, 'elsewhere')
    writeFileSync(elsewhere, readFirstLine())
    symlinkSync(elsewhere, file)
    writeEnvFile(file, service('http://127.0.0.1:2'))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(elsewhere, 'utf8')).toBe(readFirstLine())
  })

  test('a path that cannot be written is told without the key', () => {
    writeFileSync(join(room, 'folder'), createApiKey('app'))
    const running = service('http://127.0.0.1:1')
    let told: unknown
    try {
      writeEnvFile(file, running)
    } catch (error) {
      told = error
    }
    expect(String(told)).toContain('the file of --env cannot be written')
    expect(String(told)).not.toContain(running.app.apiKey.slice(4, 12))
  })
})

function readFirstLine(): string {
  const other = join(room, 'other')
  writeEnvFile(other, service('http://127.0.0.1:3'))
  return `${readFileSync(other, 'utf8').split('\n')[0]}\n`
}
