import type { Hex } from '@keyrail/core'
import { describe, expectTypeOf, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Log } from '../decode/log.ts'
import type { Transaction } from '../decode/transaction.ts'
import { iterateLogs } from '../logs/iterateLogs.ts'
import type { LogCursor } from '../logs/logCursor.ts'
import { isReorgError } from '../logs/reorgError.ts'
import { watchBlocks } from './watchBlocks.ts'
import { watchLogs } from './watchLogs.ts'

declare const client: Client

describe('watchBlocks', () => {
  test('yields blocks with hashes or full transactions', async () => {
    for await (const event of watchBlocks(client))
      if (event.type === 'block') expectTypeOf(event.block.transactions).toEqualTypeOf<readonly Hex[]>()
      else expectTypeOf(event.removed[0]?.number).toEqualTypeOf<bigint | undefined>()
    for await (const event of watchBlocks(client, { includeTransactions: true }))
      if (event.type === 'block') expectTypeOf(event.block.transactions).toEqualTypeOf<readonly Transaction[]>()
    const either: boolean = Date.now() > 0
    for await (const event of watchBlocks(client, { includeTransactions: either }))
      if (event.type === 'block')
        expectTypeOf(event.block.transactions).toEqualTypeOf<readonly Hex[] | readonly Transaction[]>()
  })
})

describe('watchLogs', () => {
  test('yields decoded logs', async () => {
    for await (const event of watchLogs(client, { address: '0x00' })) {
      if (event.type === 'log') expectTypeOf(event.log).toEqualTypeOf<Log>()
      else expectTypeOf(event.removed).toEqualTypeOf<readonly Log[]>()
    }
    // @ts-expect-error a range cannot start at a pending block
    watchLogs(client, { fromBlock: 'pending' })
  })
})

describe('iterateLogs', () => {
  test('yields decoded logs and has a cursor', () => {
    const logs = iterateLogs(client, { fromBlock: 0 })
    expectTypeOf(logs.next()).resolves.toEqualTypeOf<IteratorResult<Log, void>>()
    expectTypeOf(logs.cursor()).toEqualTypeOf<LogCursor | undefined>()
    iterateLogs(client, { fromBlock: 0, cursor: logs.cursor() })
    // @ts-expect-error fromBlock is required
    iterateLogs(client, {})
  })

  test('has its own error for reorganizations', () => {
    const error: unknown = undefined
    expectTypeOf(isReorgError(error) && error.reorg.fromBlock).toEqualTypeOf<bigint | false>()
  })
})
