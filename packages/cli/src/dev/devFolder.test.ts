import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDevFolder } from './devFolder.ts'

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
  test('without a folder, one is made for the time being and removed', () => {
    const folder = openDevFolder(undefined)
    expect(folder.temporary).toBe(true)
    expect(folder.nextChain('testnet')).toBeUndefined()
    expect(readFileSync(folder.passwordFile, 'utf8')).toBe(`${folder.state.account.password}\n`)
    expect(readFileSync(join(folder.keyFiles, 'app'), 'utf8')).toBe(`${folder.state.app.apiKey}\n`)
    folder.release()
    expect(existsSync(folder.path)).toBe(false)
  })

  test('the same folder gives the same keys', () => {
    const first = openDevFolder(path)
    first.release()
    const second = openDevFolder(path)
    expect(second.state).toEqual(first.state)
    second.release()
  })

  test.skipIf(process.platform === 'win32')('nobody else can read what is in it', () => {
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

  test('a second process is told who has it; one that was killed does not block it', () => {
    const folder = openDevFolder(path)
    expect(() => openDevFolder(path)).toThrow(`is in use by process ${process.pid}`)
    folder.release()
    writeFileSync(join(path, 'lock'), '4194304999\n')
    openDevFolder(path).release()
    expect(existsSync(join(path, 'lock'))).toBe(false)
  })

  test.each(['', '{"version":1,', '{"version":2}', 'null'])(
    'a keyrail.json of %j is rejected and left as it is',
    (text) => {
      openDevFolder(path).release()
      writeFileSync(join(path, 'keyrail.json'), text)
      const before = contents()
      expect(() => openDevFolder(path)).toThrow(/keyrail\.json cannot be used: /)
      expect(contents()).toEqual(before)
    },
  )

  test('a chain that is cut short is rejected and left as it is', () => {
    openDevFolder(path).release()
    writeFileSync(join(path, 'mainnet.chain.json'), '{"block":')
    const before = contents()
    expect(() => openDevFolder(path)).toThrow(/mainnet\.chain\.json cannot be used: it is not whole JSON/)
    expect(contents()).toEqual(before)
  })

  test('what the nodes saved takes the place of the chain before', () => {
    const folder = openDevFolder(path)
    expect(folder.savedChain('testnet')).toBeUndefined()
    writeFileSync(folder.nextChain('testnet') ?? '', '{"blocks":1}')
    folder.release()
    const again = openDevFolder(path)
    expect(readFileSync(again.savedChain('testnet') ?? '', 'utf8')).toBe('{"blocks":1}')
    again.release()
  })

  test('what the nodes saved after the process was killed is found by the next one', () => {
    const folder = openDevFolder(path)
    folder.release()
    writeFileSync(folder.nextChain('testnet') ?? '', '{"blocks":2}')
    const again = openDevFolder(path)
    expect(readFileSync(again.savedChain('testnet') ?? '', 'utf8')).toBe('{"blocks":2}')
    again.release()
  })

  test('a save that was cut short names the chain before it, and touches neither', () => {
    const folder = openDevFolder(path)
    writeFileSync(folder.nextChain('testnet') ?? '', '{"blocks":1}')
    folder.release()
    writeFileSync(folder.nextChain('testnet') ?? '', '{"blo')
    const before = contents()
    expect(() => openDevFolder(path)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('testnet.chain.next.json cannot be used'),
        hint: expect.stringContaining('testnet.chain.json'),
      }),
    )
    expect(contents()).toEqual(before)
  })

  test('a folder of other things is not taken over', () => {
    expect(() => openDevFolder(parent)).not.toThrow()
    writeFileSync(join(parent, 'notes.txt'), 'mine')
    rmSync(join(parent, 'keyrail.json'))
    rmSync(join(parent, 'lock'))
    expect(() => openDevFolder(parent)).toThrow('holds other things and no keyrail.json')
  })

  test('a file in place of the folder is rejected', () => {
    writeFileSync(path, 'a file')
    expect(() => openDevFolder(path)).toThrow('the data folder cannot be used')
    expect(readFileSync(path, 'utf8')).toBe('a file')
  })
})
