import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openFuzzedStores } from '@keyrail/gateway/test/chainStore/openFuzzedStores.ts'
import { fuzzWithKills } from '@keyrail/gateway/test/chainStore/fuzzWithKills.ts'
import { fuzzStore } from '@keyrail/gateway/test/chainStore/storeFuzz.ts'
import type { FuzzResult } from '@keyrail/gateway/test/chainStore/storeFuzz.ts'
import { checkSyncs, formatSyncs } from './formatSyncs.ts'
import type { MeasuredIndexer } from './formatSyncs.ts'
import { measureCost } from './measureCost.ts'
import type { SyncCost, SyncOptions } from './measuredProxy.ts'
import { measurePonder } from './measurePonder.ts'
import { measureGraphNode } from './measureGraphNode.ts'
import { toErpc, toKeyrail } from './openProxies.ts'
import { getPonderVersion } from './runPonder.ts'

// npm run measure -- store --only fuzz --requests 10000 --seed 7

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    blocks: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: 'fuzz,damage,kill,cost,sync,ponder' },
    erpc: { type: 'string' },
    version: { type: 'string' },
  },
})
const [requests, blocks, seed] = [values.requests, values.blocks, values.seed].map(Number) as [number, number, number]
if (!(requests > 0) || !(blocks > 1_000)) throw new TypeError('--requests must be above 0, and --blocks above 1000')
if ((values.erpc === undefined) !== (values.version === undefined))
  throw new TypeError('Set --erpc to the path of its binary, and --version to its version')
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
    const report = (result: FuzzResult): void => {
      const seconds = (performance.now() - startedAt) / 1_000
      print(
        `${name}: ${result.requests} requests in ${seconds.toFixed(0)} s, ${((result.hits / result.requests) * 100).toFixed(1)} % from the store, ${result.confirmations} confirmations, ${result.unjoined} not joined in time, ${result.wrong} wrong, ${result.wider} wider than the caller's`,
      )
    }
    const result = await fuzzStore(store, { requests, seed, atOnce: 16, onProgress: report })
    await store.close()
    report(result)
    const { wrong, firstWrong = '', hits, wider } = result
    const share = hits / result.requests
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

const measured: MeasuredIndexer[] = []

/** Measures the syncs of an indexer through Keyrail, and through eRPC if it is there. */
const measureIndexer = async (name: string, measure: (options: SyncOptions) => Promise<number>): Promise<void> =>
  withFile(async (file) => {
    const keyrail: SyncCost[] = []
    const erpc: SyncCost[] = []
    const toReport =
      (proxy: string, syncs: SyncCost[]) =>
      (sync: SyncCost): void => {
        syncs.push(sync)
        print(
          `${name}, ${proxy}, ${sync.name}: ${sync.calls} calls (${sync.finalCalls} of final blocks), ${sync.queries} queries of nodes (${sync.finalQueries}), ${sync.logs} logs of nodes, ${sync.seconds.toFixed(1)} s, ${sync.wrong} wrong`,
        )
      }
    const confirmations = await measure({ open: toKeyrail(file), blocks, seed, onSync: toReport('Keyrail', keyrail) })
    print(`${name}: ${confirmations} confirmations`)
    problems.push(...checkSyncs({ name, keyrail, confirmations }, blocks))
    if (values.erpc !== undefined)
      await measure({ open: toErpc(values.erpc), blocks, seed, onSync: toReport('eRPC', erpc) })
    measured.push({ name, confirmations, keyrail, erpc })
  })

if (parts.includes('sync')) await measureIndexer('Graph Node (a model)', measureGraphNode)
if (parts.includes('ponder')) await measureIndexer('Ponder', measurePonder)
if (parts.includes('cost'))
  await withFile(async (file) => {
    for (const { name, value, limit, unit } of await measureCost(file, print)) {
      print(`${name}: ${value.toFixed(1)} ${unit} (at most ${limit.toFixed(0)})`)
      if (value > limit) problems.push(`${name}: ${value.toFixed(1)} ${unit} is more than ${limit.toFixed(0)}`)
    }
  })
if (values.erpc !== undefined && measured.length === 2) {
  const day = new Date().toISOString().slice(0, 10)
  const how = `\`npm run measure -- store --only sync,ponder --erpc PATH_OF_BINARY --version VERSION\`, ${day}, ${blocks} blocks, eRPC ${values.version}, Ponder ${getPonderVersion()}, Node ${process.versions.node}.`
  writeFileSync(new URL('../../STORE.md', import.meta.url), formatSyncs(measured, how))
}
for (const problem of problems) print(problem)
process.exitCode = problems.length > 0 ? 1 : 0
