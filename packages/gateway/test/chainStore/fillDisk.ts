// A process that writes to a chain store whose disk gets full, and prints what became of it.
import { randomBytes } from 'node:crypto'
import { openChainStore } from '../../src/storage/chainStore/openChainStore.ts'

const warnings: string[] = []
const store = await openChainStore({
  file: String(process.argv[2]),
  maxBytes: 1e9,
  warn: (what) => void warnings.push(what),
})
const entries = new Map<string, Buffer>()
for (let number = 0; number < 200; number += 1) {
  const value = randomBytes(8_000)
  entries.set(`entry ${number}`, value)
  await store.addEntry({
    chain: 'testnet 1',
    upstream: 'one',
    text: `entry ${number}`,
    block: number,
    value: new Uint8Array(value),
  })
}
let stored = 0
let wrong = 0
for (const [text, value] of entries) {
  const found = await store.readEntry(text)
  if (found === undefined) continue
  stored += 1
  if (!value.equals(found)) wrong += 1
}
const dropped = store.getDropped()
await store.close()
process.stdout.write(JSON.stringify({ stored, wrong, dropped, warnings }))
