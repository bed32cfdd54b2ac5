import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type { Library } from './libraries.ts'
import { libraries } from './libraries.ts'
import { loadLibraries } from './loadLibraries.ts'

const installed: Library = {
  name: 'installed',
  load: async () => () => ({ latestBlock: () => Promise.reject(new Error('not called')), close: () => undefined }),
}
const endpoint = { baseUrl: 'http://127.0.0.1:1/testnet', apiKey: 'kr_any', chainId: 1 }

test('every library is installed in the workspace', async () => {
  expect((await loadLibraries(libraries)).map(({ name }) => name)).toEqual([
    '@keyrail/fetch',
    '@keyrail/ethers',
    '@keyrail/web3',
    '@keyrail/viem',
  ])
})

test('skips a library that is not installed, or whose dependency is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  try {
    const broken = join(folder, 'broken.mjs')
    writeFileSync(broken, "import 'not-installed-either'")
    const missing = (name: string, specifier: string): Library => ({
      name,
      load: () => import(/* @vite-ignore */ specifier) as Promise<never>,
    })
    const loaded = await loadLibraries([
      missing('gone', pathToFileURL(join(folder, 'gone.mjs')).href),
      missing('broken', pathToFileURL(broken).href),
      installed,
    ])
    expect(loaded.map(({ name }) => name)).toEqual(['installed'])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a broken library throws when it is opened', async () => {
  const [broken, next] = await loadLibraries([
    { name: 'broken', load: () => Promise.reject(new TypeError('no such export')) },
    installed,
  ])
  expect(() => broken?.open(endpoint)).toThrow('no such export')
  expect(next?.name).toBe('installed')
})
