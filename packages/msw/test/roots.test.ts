import { createClient } from '@keyrail/fetch'
import type { Hex } from '@keyrail/core'
import { expect, test } from 'vitest'
import { fromHex, toHex } from '../src/bytes/hex.ts'
import { orderedRoot } from '../src/chain/orderedRoot.ts'
import { hashHeader } from './checkChain.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'

test('roots and header hashes equal those of anvil', async () => {
  const anvil = await startAnvil('--no-mining')
  const client = createClient({ url: anvil.url })
  const [from] = await client.eth_accounts()
  // From index 128 on, the keys of the trie are longer.
  for (const count of [1, 2, 17, 140]) {
    const hashes: Hex[] = []
    for (let sent = 0; sent < count; sent++) {
      hashes.push(await client.eth_sendTransaction({ from, to: from, value: '0x1' } as never))
    }
    await (client.request as (call: object) => Promise<unknown>)({ method: 'anvil_mine', params: ['0x1'] })
    const block = await client.eth_getBlockByNumber('latest', true)
    if (block === null) throw new Error('no block was mined')
    expect(block.transactions).toHaveLength(count)
    const raws = await Promise.all(hashes.map((hash) => client.eth_getRawTransactionByHash(hash)))
    expect(toHex(orderedRoot(raws.map((raw) => fromHex(raw as Hex))))).toBe(block.transactionsRoot)
    expect(hashHeader(block)).toBe(block.hash)
  }
  client.close()
  await anvil.stop()
})
