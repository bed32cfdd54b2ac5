import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adapters, makeAdapterProject } from './adapterProject.ts'
import { bundle, bundlers, weigh } from './bundle.ts'

// What an adapter weighs: a page with the library over Keyrail, less the same page with the library and the core apart. Bytes after
// brotli. The library has no provider of its own there, where it can do without.

const atMost = 2_000
// Adapters add safe writes by their library's hash function.
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
    const room = makeAdapterProject(adapters.find(({ folder }) => folder === 'viem')!)
    try {
      const bundleProgram = async (use: string): Promise<{ readonly weight: number; readonly hasNames: boolean }> => {
        const entry = join(room, 'program.js')
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
      console.log(`size: keyrailTransports, ${bundler}: ${all.weight - one.weight} bytes brotli beside ${one.weight}`)
      expect([one.hasNames, all.hasNames]).toEqual([false, true])
      expect(all.weight - one.weight).toBeLessThanOrEqual(1_500)
    } finally {
      rmSync(room, { recursive: true, force: true })
    }
  },
)

describe.each(adapters)('@keyrail/$folder', (adapter) => {
  const { folder } = adapter
  const { library, apart, adapter: ours, over } = programs[folder]
  const url = "const url = 'https://node.example/testnet'"
  let room = ''

  beforeAll(() => {
    room = makeAdapterProject(adapter)
  })

  afterAll(() => rmSync(room, { recursive: true, force: true }))

  test.each(bundlers)(`bundled by %s adds at most ${atMost} bytes to its library and the core`, async (bundler) => {
    const weighProgram = async (name: string, lines: readonly string[]): Promise<number> => {
      const entry = join(room, `${name}.js`)
      writeFileSync(entry, `${lines.join('\n')}\n`)
      return weigh(await bundle(bundler, entry))
    }
    const before = await weighProgram('apart', [library, core, url, apart])
    const after = await weighProgram('over', [library, ours, url, over])
    console.log(`size: @keyrail/${folder}, ${bundler}: ${after - before} bytes brotli beside ${before}`)
    expect(before).toBeGreaterThan(20_000)
    expect(after - before).toBeLessThanOrEqual(atMost)
  })
})
