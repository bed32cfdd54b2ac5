import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultFolder, findRunning, openDevFolder } from './devFolder.ts'
import type { DevDescription } from './devDescription.ts'
import { readDevNetworks } from './devNetworks.ts'

let parent = ''
let path = ''
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  path = join(parent, 'data')
})
afterEach(() => rmSync(parent, { recursive: true, force: true }))

const contents = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(path, name), 'utf8')]),
  )

describe('openDevFolder', () => {
  test('creates a temporary folder by default, and removes it', () => {
    const folder = openDevFolder(undefined)
    expect(folder.temporary).toBe(true)
    expect(folder.nextChain('testnet')).toBeUndefined()
    expect(readFileSync(folder.passwordFile, 'utf8')).toBe(`${folder.state.account.password}\n`)
    expect(readFileSync(join(folder.keyFiles, 'app'), 'utf8')).toBe(`${folder.state.app.apiKey}\n`)
    folder.release()
    expect(existsSync(folder.path)).toBe(false)
  })

  test('the default folder may contain other files, and git ignores it', () => {
    const inside = join(parent, defaultFolder)
    mkdirSync(inside)
    writeFileSync(join(inside, 'local.env'), 'A=1')
    openDevFolder(inside).release()
    expect(readFileSync(join(inside, '.gitignore'), 'utf8')).toBe('*\n')
    openDevFolder(path).release()
    expect(existsSync(join(path, '.gitignore'))).toBe(false)
  })

  test('returns the same keys for the same folder', () => {
    const first = openDevFolder(path)
    first.release()
    const second = openDevFolder(path)
    expect(second.state).toEqual(first.state)
    second.release()
  })

  test('adds keys for new networks, and removes the file of a key that could not be created', () => {
    const first = openDevFolder(path)
    first.release()
    const second = openDevFolder(path, readDevNetworks('base,testnet'))
    expect(Object.keys(second.state.keys)).toEqual(['testnet', 'mainnet', 'base'])
    expect(second.state.keys).toMatchObject(first.state.keys)
    expect(existsSync(join(second.keyFiles, 'base'))).toBe(true)
    second.saveState(first.state)
    expect(readdirSync(second.keyFiles).sort()).toEqual(['app', 'mainnet', 'testnet'])
    second.release()
  })

  test.skipIf(process.platform === 'win32')('only the owner can read the files', () => {
    const folder = openDevFolder(path)
    expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(statSync(folder.keyFiles).mode & 0o777).toBe(0o700)
    for (const file of [
      join(path, 'keyrail.json'),
      folder.passwordFile,
      ...['app', 'testnet', 'mainnet'].map((name) => join(path, 'keys', name)),
    ]) {
      expect(statSync(file).mode & 0o777).toBe(0o600)
    }
    folder.release()
  })

  test('rejects a second process, but not after the first was killed', () => {
    const folder = openDevFolder(path)
    expect(() => openDevFolder(path)).toThrow(
      `is already running with the data folder ${path}, as process ${process.pid}`,
    )
    folder.release()
    writeFileSync(join(path, 'lock'), '4194304999\n')
    openDevFolder(path).release()
    expect(existsSync(join(path, 'lock'))).toBe(false)
  })

  test('describes the service that runs, and none after it has stopped or was killed', () => {
    expect(findRunning(path)).toBeUndefined()
    const folder = openDevFolder(path)
    // It is starting.
    expect(findRunning(path)).toBeUndefined()
    const description = { url: 'http://127.0.0.1:1' } as DevDescription<string>
    folder.saveDescription(description)
    expect(findRunning(path)).toEqual({
      processId: process.pid,
      description,
      folder: { path, keyFiles: folder.keyFiles, passwordFile: folder.passwordFile, temporary: false },
    })
    if (process.platform !== 'win32') expect(statSync(join(path, 'service.json')).mode & 0o777).toBe(0o600)
    folder.release()
    expect(findRunning(path)).toBeUndefined()
    // The files of a killed process.
    writeFileSync(join(path, 'lock'), '4194304999\n')
    writeFileSync(join(path, 'service.json'), '{}')
    expect(findRunning(path)).toBeUndefined()
    openDevFolder(path).release()
    expect(existsSync(join(path, 'service.json'))).toBe(false)
  })

  test.each(['', '{"version":1,', '{"version":2}', 'null'])(
    'rejects a keyrail.json of %j and leaves it unchanged',
    (text) => {
      openDevFolder(path).release()
      writeFileSync(join(path, 'keyrail.json'), text)
      const before = contents()
      expect(() => openDevFolder(path)).toThrow(/^cannot use .*keyrail\.json: /)
      expect(contents()).toEqual(before)
    },
  )

  test('rejects a truncated chain and leaves it unchanged', () => {
    openDevFolder(path).release()
    writeFileSync(join(path, 'mainnet.chain.json'), '{"block":')
    const before = contents()
    expect(() => openDevFolder(path)).toThrow(/^cannot use .*mainnet\.chain\.json: invalid JSON/)
    expect(contents()).toEqual(before)
  })

  test('replaces the previous chain with the saved one', () => {
    const folder = openDevFolder(path)
    expect(folder.savedChain('testnet')).toBeUndefined()
    writeFileSync(folder.nextChain('testnet') ?? '', '{"blocks":1}')
    folder.release()
    const again = openDevFolder(path)
    expect(readFileSync(again.savedChain('testnet') ?? '', 'utf8')).toBe('{"blocks":1}')
    again.release()
  })

  test('finds a chain that was saved after the process was killed', () => {
    const folder = openDevFolder(path)
    folder.release()
    writeFileSync(folder.nextChain('testnet') ?? '', '{"blocks":2}')
    const again = openDevFolder(path)
    expect(readFileSync(again.savedChain('testnet') ?? '', 'utf8')).toBe('{"blocks":2}')
    again.release()
  })

  test('rejects a truncated save, names the previous chain and changes neither', () => {
    const folder = openDevFolder(path)
    writeFileSync(folder.nextChain('testnet') ?? '', '{"blocks":1}')
    folder.release()
    writeFileSync(folder.nextChain('testnet') ?? '', '{"blo')
    const before = contents()
    expect(() => openDevFolder(path)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^cannot use .*testnet\.chain\.next\.json/),
        hint: expect.stringContaining('testnet.chain.json'),
      }),
    )
    expect(contents()).toEqual(before)
  })

  test('rejects a folder with other files', () => {
    expect(() => openDevFolder(parent)).not.toThrow()
    writeFileSync(join(parent, 'notes.txt'), 'mine')
    rmSync(join(parent, 'keyrail.json'))
    rmSync(join(parent, 'lock'))
    expect(() => openDevFolder(parent)).toThrow('contains other files and no keyrail.json')
  })

  test('rejects a file instead of a folder', () => {
    writeFileSync(path, 'a file')
    expect(() => openDevFolder(path)).toThrow('cannot use the data folder')
    expect(readFileSync(path, 'utf8')).toBe('a file')
  })
})
