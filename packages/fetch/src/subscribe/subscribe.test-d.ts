import type { Hex } from '@keyrail/core'
import { describe, expectTypeOf, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { BlockHeader } from '../decode/block.ts'
import type { Log } from '../decode/log.ts'
import type { Transaction } from '../decode/transaction.ts'
import { subscribe } from './subscribe.ts'

declare const client: Client

describe('subscribe', () => {
  test('yields headers, or blocks with hashes or full transactions', async () => {
    for await (const event of subscribe(client, { blocks: true }))
      if (event.type === 'block') expectTypeOf(event.block).toEqualTypeOf<BlockHeader>()
      else expectTypeOf(event.removed).toEqualTypeOf<readonly BlockHeader[]>()
    for await (const event of subscribe(client, { blocks: { transactions: 'hashes' } }))
      if (event.type === 'block') expectTypeOf(event.block.transactions).toEqualTypeOf<readonly Hex[]>()
    for await (const event of subscribe(client, { blocks: { transactions: 'full' } }))
      if (event.type === 'block') expectTypeOf(event.block.transactions).toEqualTypeOf<readonly Transaction[]>()
    const transactions: 'hashes' | 'full' = Date.now() > 0 ? 'hashes' : ('full' as never)
    for await (const event of subscribe(client, { blocks: { transactions: transactions as 'hashes' | 'full' } }))
      if (event.type === 'block')
        expectTypeOf(event.block.transactions).toEqualTypeOf<readonly Hex[] | readonly Transaction[]>()
  })

  test('yields decoded logs, and hashes of transactions', async () => {
    for await (const event of subscribe(client, { logs: { address: '0x00' } }))
      if (event.type === 'log') expectTypeOf(event.log).toEqualTypeOf<Log>()
      else expectTypeOf(event.removed).toEqualTypeOf<readonly Log[]>()
    for await (const event of subscribe(client, { pending: true })) expectTypeOf(event.hash).toEqualTypeOf<Hex>()
    expectTypeOf(subscribe(client, { logs: {} }).cursor()).toEqualTypeOf<string>()
  })

  test('rejects what cannot be subscribed to', () => {
    // @ts-expect-error a range cannot start at a pending block
    subscribe(client, { blocks: true }, { fromBlock: 'pending' })
    // @ts-expect-error logs takes a query
    subscribe(client, { logs: true })
    // @ts-expect-error there are no other kinds
    subscribe(client, { syncing: true })
    expectTypeOf(subscribe<{ readonly pending: true }>)
      .parameter(1)
      .toEqualTypeOf<{ readonly pending: true }>()
  })
})
