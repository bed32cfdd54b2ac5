import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type { Library } from './library.ts'
import { libraries } from './libraries.ts'
import { loadLibraries } from './loadLibraries.ts'

const there: Library = {
  name: 'there',
  load: async () => () => ({ latestBlock: () => Promise.reject(new Error('not asked')), close: () => undefined }),
}
const address = { baseUrl: 'http://127.0.0.1:1/testnet', apiKey: 'kr_any', chainId: 1 }

test('in the workspace every library is installed', async () => {
  expect((await loadLibraries(libraries)).map(({ name }) => name)).toEqual([
    '@keyrail/fetch',
    '@keyrail/ethers',
    '@keyrail/web3',
    '@keyrail/viem',
  ])
})

test('a library that is not installed is left out, and so is one that lacks another', async () => {
  const room = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  try {
    const lacking = join(room, 'lacking.mjs')
    writeFileSync(lacking, "import 'not-installed-either'")
    const missing = (name: string, specifier: string): Library => ({
      name,
      load: () => import(/* @vite-ignore */ specifier) as Promise<never>,
    })
    const loaded = await loadLibraries([
      missing('gone', pathToFileURL(join(room, 'gone.mjs')).href),
      missing('lacking', pathToFileURL(lacking).href),
      there,
    ])
    expect(loaded.map(({ name }) => name)).toEqual(['there'])
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
})

test('a library that is there and broken says so when it is opened', async () => {
  const [broken, next] = await loadLibraries([
    { name: 'broken', load: () => Promise.reject(new TypeError('no such export')) },
    there,
  ])
  expect(() => broken?.open(address)).toThrow('no such export')
  expect(next?.name).toBe('there')
})
