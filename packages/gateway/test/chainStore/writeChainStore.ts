// A process that writes to a chain store until it is killed.
import { setTimeout } from 'node:timers/promises'
import { openChainStore } from '../../src/storage/chainStore/openChainStore.ts'

const store = await openChainStore({ file: String(process.argv[2]), maxBytes: 1e9, warn: () => {} })
for (let number = 0; ; number += 1) {
  const text = `entry ${number}`
  const value = new Uint8Array(Buffer.from(text.repeat(50)))
  store.addEntry({ chain: 'testnet 1', upstream: 'one', text, value })
  if ((await store.readEntry('entry 0')) !== undefined && number > 200) process.send?.('written')
  if (number % 20 === 0) await setTimeout(1)
}
