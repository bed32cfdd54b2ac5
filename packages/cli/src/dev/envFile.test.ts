import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import { createApiKey } from '@keyrail/gateway'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDevState } from './devState.ts'
import { writeEnvFile } from './envFile.ts'

let folder = ''
let file = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  file = join(folder, 'folder', 'local.env')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const service = (url: string) => ({ url, app: { ...createDevState().app, urls: { testnet: '', mainnet: '' } } })

describe('writeEnvFile', () => {
  test('writes the URL and the key as variables, and removes the file', () => {
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

  test('a second service does not replace the file of a running one, and stopping it leaves the file', () => {
    const running = service('http://127.0.0.1:1')
    const removeFirst = writeEnvFile(file, running)
    expect(() => writeEnvFile(file, service('http://127.0.0.1:2'))).toThrow(
      expect.objectContaining({
        message: `${file} has the URL and key of another running service, process ${process.pid}`,
        hint: expect.stringContaining('use another file for this one with --env'),
      }),
    )
    expect(readFileSync(file, 'utf8')).toContain(running.app.apiKey)
    removeFirst()
    expect(readdirSync(dirname(file))).toEqual([])
  })

  test('replaces the file of a service that was killed', () => {
    writeEnvFile(file, service('http://127.0.0.1:1'))()
    writeFileSync(file, readFirstLine())
    writeFileSync(`${file}.lock`, '')
    const remove = writeEnvFile(file, service('http://127.0.0.1:2'))
    expect(readFileSync(file, 'utf8')).toContain('http://127.0.0.1:2/testnet')
    remove()
    expect(readdirSync(dirname(file))).toEqual([])
  })

  test('removing a file twice does not remove that of the next service', () => {
    const running = service('http://127.0.0.1:1')
    const removeFirst = writeEnvFile(file, running)
    removeFirst()
    const removeNext = writeEnvFile(file, running)
    removeFirst()
    expect(readdirSync(dirname(file)).sort()).toEqual(['local.env', 'local.env.lock'])
    removeNext()
  })

  test.each(['MY_OWN=1\n', ''])("leaves a user's own file of %j unchanged", (own) => {
    const mine = join(folder, '.env')
    writeFileSync(mine, own)
    expect(() => writeEnvFile(mine, service('http://127.0.0.1:1'))).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('was not written by keyrail dev'),
        hint: expect.stringContaining('--env'),
      }),
    )
    expect(readFileSync(mine, 'utf8')).toBe(own)
  })

  test.skipIf(process.platform === 'win32')('only the owner can read it, even if it was a symlink before', () => {
    writeEnvFile(file, service('http://127.0.0.1:1'))()
    const target = join(folder, 'target')
    writeFileSync(target, readFirstLine())
    symlinkSync(target, file)
    writeEnvFile(file, service('http://127.0.0.1:2'))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(target, 'utf8')).toBe(readFirstLine())
  })

  test('an error about the path does not contain the key', () => {
    writeFileSync(join(folder, 'folder'), createApiKey('app'))
    const running = service('http://127.0.0.1:1')
    let thrown: unknown
    try {
      writeEnvFile(file, running)
    } catch (error) {
      thrown = error
    }
    expect(String(thrown)).toContain('cannot write the --env file')
    expect(String(thrown)).not.toContain(running.app.apiKey.slice(4, 12))
  })
})

function readFirstLine(): string {
  const other = join(folder, 'other')
  const remove = writeEnvFile(other, service('http://127.0.0.1:3'))
  const [line] = readFileSync(other, 'utf8').split('\n')
  remove()
  return `${line}\n`
}
