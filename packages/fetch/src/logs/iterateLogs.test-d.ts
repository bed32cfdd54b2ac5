import { describe, expectTypeOf, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Log } from '../decode/log.ts'
import { iterateLogs } from './iterateLogs.ts'
import type { LogCursor } from './logCursor.ts'
import { isReorgError } from './reorgError.ts'

declare const client: Client

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
