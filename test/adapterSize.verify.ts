import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adapters, makeAdapterProject } from './adapterProject.ts'
import { bundle, bundlers, weigh } from './bundle.ts'

// Measures the size of an adapter: a page that uses the library with the adapter, minus a page that uses the library and the core separately.
// Bytes after brotli. If possible, the second page does not use a provider of the library.

/** That of ethers reads logs itself: it splits ranges, follows blocks and reports failures, which the provider of ethers does not. */
const limits: Readonly<Record<string, number>> = { ethers: 3_800 }
const defaultLimit = 2_150
// Adapters turn on safe writes with the hash function of their library.
const core =
  "import { createTransport, safeWrites } from '@keyrail/core'\nglobalThis.transport = createTransport({ url, safeWrites: safeWrites(globalThis.options) })"

const programs = {
  viem: {
    library: "import { createPublicClient } from 'viem'",
    apart: 'createPublicClient({ transport: globalThis.ready }).getBlockNumber().then(console.log)',
    adapter: "import { keyrail } from '@keyrail/viem'",
    over: 'createPublicClient({ transport: keyrail({ url }) }).getBlockNumber().then(console.log)',
  },
  ethers: {
    library: "import { JsonRpcProvider } from 'ethers'",
    apart: 'new JsonRpcProvider(url).getBlockNumber().then(console.log)',
    adapter: "import { KeyrailProvider } from '@keyrail/ethers'",
    over: 'new KeyrailProvider({ url }).getBlockNumber().then(console.log)',
  },
  web3: {
    library: "import { Web3 } from 'web3'",
    apart: 'new Web3(globalThis.ready).eth.getBlockNumber().then(console.log)',
    adapter: "import { KeyrailProvider } from '@keyrail/web3'",
    over: 'new Web3(new KeyrailProvider({ url })).eth.getBlockNumber().then(console.log)',
  },
} as const

test.each(bundlers)(
  'bundled by %s, only keyrailTransports adds the names of networks, at most 1500 bytes',
  async (bundler) => {
    const directory = makeAdapterProject(adapters.find(({ folder }) => folder === 'viem')!)
    try {
      const bundleProgram = async (use: string): Promise<{ readonly weight: number; readonly hasNames: boolean }> => {
        const entry = join(directory, 'program.js')
        const options = "{ url: 'https://{network}.example' }"
        writeFileSync(
          entry,
          `import { ${use} } from '@keyrail/viem'\nglobalThis.made = ${use}(${options}, globalThis.given)\n`,
        )
        const chunks = await bundle(bundler, entry)
        return { weight: weigh(chunks), hasNames: chunks.some(({ code }) => code.includes('arbitrum-one')) }
      }
      const one = await bundleProgram('keyrail')
      const all = await bundleProgram('keyrailTransports')
      console.log(
        `size: keyrailTransports, ${bundler}: ${all.weight - one.weight} bytes brotli on top of ${one.weight}`,
      )
      expect([one.hasNames, all.hasNames]).toEqual([false, true])
      expect(all.weight - one.weight).toBeLessThanOrEqual(1_500)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  },
)

describe.each(adapters)('@keyrail/$folder', (adapter) => {
  const { folder } = adapter
  const { library, apart, adapter: ours, over } = programs[folder]
  const url = "const url = 'https://node.example/testnet'"
  let directory = ''

  beforeAll(() => {
    directory = makeAdapterProject(adapter)
  })

  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const atMost = limits[folder] ?? defaultLimit
  test.each(bundlers)(`bundled by %s adds at most ${atMost} bytes to its library and the core`, async (bundler) => {
    const weighProgram = async (name: string, lines: readonly string[]): Promise<number> => {
      const entry = join(directory, `${name}.js`)
      writeFileSync(entry, `${lines.join('\n')}\n`)
      return weigh(await bundle(bundler, entry))
    }
    const before = await weighProgram('apart', [library, core, url, apart])
    const after = await weighProgram('over', [library, ours, url, over])
    console.log(`size: @keyrail/${folder}, ${bundler}: ${after - before} bytes brotli on top of ${before}`)
    expect(before).toBeGreaterThan(20_000)
    expect(after - before).toBeLessThanOrEqual(atMost)
  })
})
