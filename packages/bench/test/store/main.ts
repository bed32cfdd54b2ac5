import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { indexers, measureSync } from '@keyrail/gateway/test/chainStore/measureSync.ts'
import { openFuzzedStores } from '@keyrail/gateway/test/chainStore/openFuzzedStores.ts'
import { fuzzWithKills } from '@keyrail/gateway/test/chainStore/fuzzWithKills.ts'
import { fuzzStore } from '@keyrail/gateway/test/chainStore/storeFuzz.ts'

// npm run measure -- store --only fuzz --requests 10000 --seed 7

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    blocks: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: 'fuzz,damage,kill,sync' },
  },
})
const [requests, blocks, seed] = [values.requests, values.blocks, values.seed].map(Number) as [number, number, number]
if (!(requests > 0) || !(blocks > 1_000)) throw new TypeError('--requests must be above 0, and --blocks above 1000')
const parts = values.only.split(',')
const problems: string[] = []
const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** Runs a part with a file of its own. */
const withFile = async (work: (file: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-store-'))
  try {
    await work(join(folder, 'cache.db'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Fuzzes two stores on one file. */
const fuzz = async (name: string, damaged: number, minHits: number): Promise<void> =>
  withFile(async (file) => {
    const store = await openFuzzedStores({ file, maxBytes: 20_000_000, damaged })
    const startedAt = performance.now()
    const {
      wrong,
      firstWrong = '',
      hits,
      wider,
      confirmations,
      unjoined,
    } = await fuzzStore(store, { requests, seed, atOnce: 16 })
    await store.close()
    const seconds = (performance.now() - startedAt) / 1_000
    const share = hits / requests
    print(
      `${name}: ${requests} requests in ${seconds.toFixed(0)} s, ${(share * 100).toFixed(1)} % from the store, ${confirmations} confirmations, ${unjoined} not joined in time, ${wrong} wrong, ${wider} wider than the caller's`,
    )
    if (wrong > 0) problems.push(`${name}: ${wrong} results are wrong, the first of ${firstWrong}`)
    if (wider > 0) problems.push(`${name}: ${wider} queries are wider than the caller's`)
    if (share < minHits) problems.push(`${name}: only ${(share * 100).toFixed(1)} % were served from the store`)
  })

if (parts.includes('fuzz')) await fuzz('fuzz', 0, 0.5)
if (parts.includes('damage')) await fuzz('damage', 50, 0)
const kills = 20
if (parts.includes('kill'))
  await withFile(async (file) => {
    // In ten minutes, the second answer of a node that has not indexed would confirm its first.
    const each = Math.ceil(Math.min(requests, 100_000) / (2 * kills))
    const results = await fuzzWithKills({ file, kills, requests: each, seed })
    const wrong = results.flatMap(({ firstWrong }) => firstWrong ?? [])
    const hits = results.reduce((sum, one) => sum + one.hits, 0)
    print(
      `kill: ${kills} processes killed, ${results.length * each} requests beside and after them, ${((100 * hits) / results.length / each).toFixed(1)} % from the store, ${wrong.length} runs with a wrong result`,
    )
    for (const one of wrong) problems.push(`kill: a result is wrong, of ${one}`)
    if (existsSync(`${file}.2`)) problems.push('kill: a file was found to be damaged')
  })
if (parts.includes('sync'))
  for (const [name, indexer] of Object.entries(indexers))
    await withFile(async (file) => {
      const { syncs, confirmations, wrong, storedBytes, logs } = await measureSync(indexer, { file, blocks, seed })
      for (const sync of syncs)
        print(
          `${name}, ${sync.name}: ${sync.calls} calls (${sync.tail} above the final block), ${sync.queries} queries of nodes, ${sync.seconds.toFixed(1)} s`,
        )
      print(`${name}: ${confirmations} confirmations, ${(storedBytes / logs).toFixed(0)} bytes a log, ${wrong} wrong`)
      if (wrong > 0) problems.push(`${name}: ${wrong} results are wrong`)
      const [first, ...others] = syncs
      if (first !== undefined && first.queries > first.calls)
        problems.push(`${name}: the first sync needed ${first.queries} queries for ${first.calls} calls`)
      // The node accepts 10,000 blocks, and the error for more names this limit.
      const needed = Math.ceil(blocks / 10_000) + 2
      if (first !== undefined && confirmations > Math.max(first.queries * 0.15, needed))
        problems.push(`${name}: ${confirmations} confirmations are more than 15 % of the first sync's queries`)
      for (const sync of others.slice(0, 2))
        if (sync.queries > sync.tail)
          problems.push(`${name}, ${sync.name}: ${sync.queries - sync.tail} calls of final blocks needed a node`)
    })
for (const problem of problems) print(problem)
process.exitCode = problems.length > 0 ? 1 : 0
