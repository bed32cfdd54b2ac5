// A process that fuzzes a chain store until it is killed.
import { openFuzzedStores } from './openFuzzedStores.ts'
import { createFixedChain, fuzzStore } from './storeFuzz.ts'

const store = await openFuzzedStores({ file: String(process.argv[2]), maxBytes: 20_000_000 })
const run = { seed: Number(process.argv[3]), atOnce: 16, fixedChain: createFixedChain() }
await fuzzStore(store, { ...run, requests: 200 })
process.send?.('written')
await fuzzStore(store, run)
