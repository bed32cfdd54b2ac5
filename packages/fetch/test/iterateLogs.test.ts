import { retry } from '@keyrail/core/test/layers.ts'
import type { Hex, RpcErrorObject } from '@keyrail/core'
import fc from 'fast-check'
import { rangeHints } from '@keyrail/vectors'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createClient, isKeyrailError } from '../src/index.ts'
import type { Log } from '../src/index.ts'
import { iterateLogs } from '../src/logs/iterateLogs.ts'
import type { LogsProgress } from '../src/logs/iterateLogs.ts'
import type { LogCursor } from '../src/logs/logCursor.ts'
import { isReorgError } from '../src/logs/reorgError.ts'
import {
  contract,
  createReorgChain,
  NodeError,
  formatLogPosition,
  serveChain,
  getTopic,
} from '@keyrail/core/test/reorgChain.ts'
import { createChainClient } from './chainClient.ts'
import type { ChainServer, ReorgChain } from '@keyrail/core/test/reorgChain.ts'
import { getFailure } from '@keyrail/core/test/getFailure.ts'

const collect = async (logs: AsyncIterable<Log>): Promise<Log[]> => {
  const seen: Log[] = []
  for await (const log of logs) seen.push(log)
  return seen
}

interface Range {
  fromBlock: Hex
  toBlock: Hex
}
/** How many blocks a call to eth_getLogs spans. */
const countBlocks = (params: readonly unknown[]): number => {
  const { fromBlock, toBlock } = params[0] as Range
  return Number(toBlock) - Number(fromBlock) + 1
}
const getSpans = (chain: ReorgChain): number[] =>
  chain.requests.filter(({ method }) => method === 'eth_getLogs').map(({ params }) => countBlocks(params))
const createChain = (blocks: number | readonly number[]): ReorgChain => {
  const chain = createReorgChain()
  chain.mine(blocks)
  return chain
}
/** Rejects ranges above a number of blocks. Returns the sizes that it rejected. */
const rejectAbove = (
  chain: ReorgChain,
  most: number,
  error: RpcErrorObject = { code: -32_005, message: 'block range is too wide' },
) => {
  const rejected: number[] = []
  chain.before = (method, params) => {
    if (method !== 'eth_getLogs' || countBlocks(params) <= most) return
    rejected.push(countBlocks(params))
    throw new NodeError('range', error)
  }
  return rejected
}

describe('iterateLogs', () => {
  test('yields every log of the range, decoded, in order', async () => {
    const chain = createChain(5_000)
    const seen = await collect(iterateLogs(createChainClient(chain), { fromBlock: 10, toBlock: 4_321n }))
    expect(seen.map(formatLogPosition)).toEqual(chain.logs(10, 4_321).map(formatLogPosition))
    expect(seen[0]).toMatchObject({ address: contract, blockNumber: 10n, removed: false })
  })

  test('passes on contract and topics', async () => {
    const chain = createChain(20)
    const client = createChainClient(chain)
    const wanted = chain.logs().filter(({ topics }) => topics[0] === getTopic(1))
    const seen = await collect(iterateLogs(client, { address: contract, topics: [getTopic(1)], fromBlock: 0n }))
    expect(seen.map(formatLogPosition)).toEqual(wanted.map(formatLogPosition))
    expect(wanted.length).toBeGreaterThan(0)
    const none = `0x${'99'.repeat(20)}` as const
    expect(await collect(iterateLogs(client, { address: none, fromBlock: 0n }))).toEqual([])
  })

  test('yields logs in chain order if responses arrive in any order', async () => {
    const chain = createChain(400)
    const client = createChainClient(chain)
    await collect(iterateLogs(client, { fromBlock: 0, toBlock: 1 }))
    let turn = 0
    chain.before = (method) =>
      method === 'eth_getLogs' ? new Promise((resolve) => setTimeout(resolve, (turn++ * 7) % 5)) : undefined
    const seen = await collect(iterateLogs(client, { fromBlock: 0, maxBlocks: 9, concurrency: 8 }))
    expect(seen.map(formatLogPosition)).toEqual(chain.logs().map(formatLogPosition))
  })

  test('sorts logs that a node returns out of order', async () => {
    const chain = createChain(50)
    const client = createChainClient(chain)
    const { respond } = chain
    const shuffled: ReorgChain = {
      ...chain,
      respond: async (method, params) => {
        const result = await respond(method, params)
        return Array.isArray(result) ? result.toReversed() : result
      },
    }
    const seen = await collect(iterateLogs(createChainClient(shuffled), { fromBlock: 0 }))
    expect(seen.map(formatLogPosition)).toEqual(chain.logs().map(formatLogPosition))
    client.close()
  })

  test('rejects logs of blocks that were not requested', async () => {
    const chain = createChain(50)
    const lying: ReorgChain = {
      ...chain,
      respond: (method, params) =>
        method === 'eth_getLogs' ? Promise.resolve(chain.logs()) : chain.respond(method, params),
    }
    const failure = await getFailure(collect(iterateLogs(createChainClient(lying), { fromBlock: 5, toBlock: 9 })))
    expect(failure.kind).toBe('badResponse')
  })

  test('resolves latest once, at the start', async () => {
    const chain = createChain(100)
    const logs = iterateLogs(createChainClient(chain), { fromBlock: 0, maxBlocks: 10 })
    const seen: Log[] = []
    for await (const log of logs) {
      if (seen.push(log) === 5) chain.mine(30)
    }
    expect(seen.map(formatLogPosition)).toEqual(chain.logs(0, 100).map(formatLogPosition))
    expect(chain.requests.filter(({ method }) => method === 'eth_blockNumber')).toHaveLength(1)
    expect(logs.cursor()).toEqual({ nextBlock: 101, nextLogIndex: 0 })
  })

  test('never reads above the head, so that it skips no block that is mined later', async () => {
    const chain = createChain(100)
    const logs = iterateLogs(createChainClient(chain), { fromBlock: 90, toBlock: 500 })
    await collect(logs)
    expect(logs.cursor()?.nextBlock).toBe(101)
    const later = iterateLogs(createChainClient(chain), { fromBlock: 101 })
    expect(await collect(later)).toEqual([])
    expect(later.cursor()?.nextBlock).toBe(101)
  })

  test('accepts tags at both ends', async () => {
    const chain = createChain(100)
    const logs = iterateLogs(createChainClient(chain), { fromBlock: 'earliest', toBlock: 'finalized' })
    expect(logs.cursor()).toBeUndefined()
    expect((await collect(logs)).map(formatLogPosition)).toEqual(chain.logs(0, 68).map(formatLogPosition))
  })

  test('grows its windows while they are served', async () => {
    const chain = createReorgChain()
    chain.mine(Array.from({ length: 20_000 }, () => 0))
    await collect(iterateLogs(createChainClient(chain), { fromBlock: 0, concurrency: 1 }))
    expect(getSpans(chain)).toEqual([1_000, 2_000, 4_000, 8_000, 5_001])
  })

  test.each([
    ['address', { address: '0x12' as const }],
    ['address', { address: ['vitalik.eth' as Hex] }],
    ['topics', { topics: ['0x1234' as const] }],
    ['topics', { topics: '0x12' as never }],
    ['fromBlock', { fromBlock: -1 }],
    ['fromBlock', { fromBlock: 2n ** 60n }],
    ['fromBlock', { fromBlock: 'pending' as never }],
    ['fromBlock', { fromBlock: '0x10' as never }],
    ['toBlock', { toBlock: 1.5 }],
    ['fromBlock', { fromBlock: 9, toBlock: 8n }],
    ['maxBlocks', { maxBlocks: 0 }],
    ['concurrency', { concurrency: 65 }],
    ['concurrency', { concurrency: 0.5 }],
    ['cursor', { cursor: {} as never }],
    ['cursor', { cursor: { nextBlock: 1, nextLogIndex: -1 } }],
    ['cursor', { cursor: { nextBlock: 1, nextLogIndex: 0, edges: [[1, '0x12']] as const } }],
  ])('rejects a wrong %s at once: %o', (name, wrong) => {
    const chain = createReorgChain()
    let caught: unknown
    try {
      iterateLogs(createChainClient(chain), { fromBlock: 0, ...wrong })
    } catch (error) {
      caught = error
    }
    expect(isKeyrailError(caught, 'invalidRequest')).toBe(true)
    expect((caught as Error).message).toContain(name)
    expect(chain.requests).toEqual([])
  })
})

describe('a rejected range', () => {
  test('is halved if the error names no limit, and the next iteration starts with that size', async () => {
    const chain = createChain(3_000)
    const rejected = rejectAbove(chain, 120)
    const client = createChainClient(chain)
    const seen = await collect(iterateLogs(client, { fromBlock: 0 }))
    expect(seen.map(formatLogPosition)).toEqual(chain.logs().map(formatLogPosition))
    // 1,000 to 500 to 250 to 125 to 62 alone; then a doubled size now and then, by up to four windows at once.
    expect(rejected.slice(0, 4)).toEqual([1_000, 500, 250, 125])
    expect(rejected.length).toBeLessThanOrEqual(16)
    rejected.length = 0
    await collect(iterateLogs(client.with({ timeoutMs: 5_000 }), { fromBlock: 0, toBlock: 500 }))
    expect(rejected).not.toContain(1_000)
    expect(rejected.length).toBeLessThanOrEqual(4)
  })

  test('shares a learned limit with all clients of the same transport', async () => {
    const chain = createChain(3_000)
    const rejected = rejectAbove(chain, 200, { code: -32_000, message: 'exceed maximum block range: 200' })
    const client = createChainClient(chain)
    await collect(iterateLogs(client, { fromBlock: 0 }))
    expect(rejected).toEqual([1_000])
    await collect(iterateLogs(client.with({}), { fromBlock: 0, address: contract }))
    expect(rejected).toEqual([1_000])
    expect(Math.max(...getSpans(chain).slice(1))).toBe(200)
  })

  test('still finishes if the suggested range is rejected too', async () => {
    const chain = createChain(500)
    const { respond } = chain
    const most = 37
    const rejected: number[] = []
    const lying: ReorgChain = {
      ...chain,
      respond: (method, params) => {
        if (method === 'eth_getLogs' && countBlocks(params) > most) {
          const { fromBlock, toBlock } = params[0] as Range
          rejected.push(countBlocks(params))
          const almost = `0x${(Number(toBlock) - 1).toString(16)}`
          const message = `Log response size exceeded. this block range should work: [${fromBlock}, ${almost}]`
          return Promise.reject(new NodeError('range', { code: -32_602, message }))
        }
        return respond(method, params)
      },
    }
    const seen = await collect(iterateLogs(createChainClient(lying), { fromBlock: 0, concurrency: 1 }))
    expect(seen.map(formatLogPosition)).toEqual(chain.logs().map(formatLogPosition))
    expect(rejected.slice(0, 2)).toEqual([501, 500])
    expect(rejected.length).toBeLessThan(20)
  })

  test('fails with the number of a block that is too large alone, after the logs before it', async () => {
    const chain = createChain(40)
    chain.before = (method, params) => {
      const { fromBlock, toBlock } = (params[0] ?? {}) as Range
      if (method === 'eth_getLogs' && Number(fromBlock) <= 23 && Number(toBlock) >= 23)
        throw new NodeError('range', { code: -32_005, message: 'query returned more than 10000 results' })
    }
    const logs = iterateLogs(createChainClient(chain), { fromBlock: 0 })
    const seen: Log[] = []
    const failure = await getFailure(
      (async () => {
        for await (const log of logs) seen.push(log)
      })(),
    )
    expect(failure).toMatchObject({ kind: 'range', rpcError: { code: -32_005 } })
    expect(failure.message).toContain('block 23 alone')
    expect(seen.map(formatLogPosition)).toEqual(chain.logs(0, 22).map(formatLogPosition))
    expect(logs.cursor()).toEqual({ nextBlock: 23, nextLogIndex: 0 })
  })

  test('fails at once if there are too many addresses', async () => {
    const chain = createChain(40)
    const rejected = rejectAbove(chain, 0, { code: -32_012, message: 'please specify less number of addresses' })
    const failure = await getFailure(collect(iterateLogs(createChainClient(chain), { fromBlock: 0 })))
    expect(failure.kind).toBe('range')
    expect(failure.message).toContain('so many addresses')
    expect(rejected).toHaveLength(1)
  })

  test('is cut to a quarter by a timeout, but not for ever', async () => {
    const chain = createChain(900)
    const slow = { code: -32_000, message: 'timed out' }
    chain.before = (method, params) => {
      if (method === 'eth_getLogs' && countBlocks(params) > 100) throw new NodeError('timeout', slow)
    }
    const seen = await collect(iterateLogs(createChainClient(chain), { fromBlock: 0, concurrency: 1 }))
    expect(seen.map(formatLogPosition)).toEqual(chain.logs().map(formatLogPosition))
    expect(getSpans(chain).slice(0, 3)).toEqual([901, 225, 56])

    const dead = createChain(900)
    dead.before = (method) => {
      if (method === 'eth_getLogs') throw new NodeError('timeout', slow)
    }
    expect((await getFailure(collect(iterateLogs(createChainClient(dead), { fromBlock: 0 })))).kind).toBe('timeout')
    expect(getSpans(dead)).toEqual([901, 225, 56, 14])
  })

  test.each(['throttled', 'auth', 'quota', 'unavailable', 'network', 'forbidden', 'badResponse', 'unknown'] as const)(
    'is not split for another reason: %s',
    async (kind) => {
      const chain = createChain(100)
      chain.before = (method) => {
        if (method === 'eth_getLogs') throw new NodeError(kind, { code: -32_000, message: 'no' })
      }
      const logs = iterateLogs(createChainClient(chain), { fromBlock: 7 })
      expect((await getFailure(collect(logs))).kind).toBe(kind)
      expect(getSpans(chain)).toEqual([94])
      expect(logs.cursor()).toEqual({ nextBlock: 7, nextLogIndex: 0 })
    },
  )

  test('is retried by the transport when throttled, without a split', async () => {
    const chain = createChain(300)
    let calls = 0
    chain.before = (method) => {
      if (method === 'eth_getLogs' && ++calls % 3 === 0)
        throw new NodeError('throttled', { code: 429, message: 'slow down', retryAfterMs: 1 })
    }
    const seen = await collect(
      iterateLogs(createChainClient(chain, retry({ baseMs: 1 })), { fromBlock: 0, maxBlocks: 10 }),
    )
    expect(seen.map(formatLogPosition)).toEqual(chain.logs().map(formatLogPosition))
    expect(new Set(getSpans(chain))).toEqual(new Set([10, 1]))
  })

  test('resumes after a failure, with no gap and no duplicate', async () => {
    const chain = createChain(300)
    let calls = 0
    chain.before = (method) => {
      if (method === 'eth_getLogs' && ++calls % 5 === 0) throw new NodeError('network', { code: 0, message: 'reset' })
    }
    const client = createChainClient(chain)
    const seen: Log[] = []
    let cursor: LogCursor | undefined
    let failures = 0
    for (let done = false; !done;) {
      const logs = iterateLogs(client, { fromBlock: 0, toBlock: 300, maxBlocks: 10, ...(cursor && { cursor }) })
      try {
        for await (const log of logs) seen.push(log)
        done = true
      } catch (failure) {
        // Each run gets further: without progress it would never end.
        if (++failures > 100) throw failure
      }
      cursor = logs.cursor()
    }
    expect(failures).toBeGreaterThan(3)
    expect(seen.map(formatLogPosition)).toEqual(chain.logs().map(formatLogPosition))
  })
})

describe('over HTTP, with the wording of each provider', () => {
  let server: ChainServer
  const chain = createReorgChain()
  chain.mine(Array.from({ length: 120_000 }, (_, index) => (index % 997 === 0 ? 2 : 0)))
  const wanted = chain.logs().map(formatLogPosition)

  beforeAll(async () => {
    server = await serveChain(chain)
  })
  afterAll(() => server.close())

  test.each(rangeHints.filter(({ expect: { tooManyAddresses } }) => !tooManyAddresses))(
    '$name',
    async ({ response, expect: { maxBlocks, fromBlock = 0, toBlock = NaN } }) => {
      const most = maxBlocks ?? (Number.isNaN(toBlock) ? 3_000 : toBlock - fromBlock + 1)
      const rejected: number[] = []
      chain.requests.length = 0
      chain.before = (method, params) => {
        if (method !== 'eth_getLogs' || countBlocks(params) <= most) return
        rejected.push(countBlocks(params))
        throw new NodeError('unknown', { ...response.error, status: response.status })
      }
      await using client = createClient({ url: server.url, retry: false })
      // Few requests, although the node accepts only ten blocks at a time.
      const from = most < 100 ? 118_000 : 0
      const seen = await collect(iterateLogs(client, { fromBlock: from, maxBlocks: 200_000 }))
      expect(seen.map(formatLogPosition)).toEqual(wanted.filter((place) => parseInt(place) >= from))
      expect(rejected.length).toBeGreaterThan(most >= 100_000 ? -1 : 0)
      if (maxBlocks) {
        // Only the requests that were in flight when the limit was learned.
        expect(rejected.length).toBeLessThanOrEqual(4)
        expect(Math.max(...getSpans(chain).slice(-5))).toBeLessThanOrEqual(maxBlocks)
      } else expect(rejected.length / getSpans(chain).length).toBeLessThan(0.5)
    },
  )
})

describe('a cursor', () => {
  test('resumes after every log, without gaps or duplicates', async () => {
    const chain = createChain([0, 3, 0, 1, 0, 0, 4, 2, 0, 1, 1, 0])
    const client = createChainClient(chain)
    const all = chain.logs().map(formatLogPosition)
    expect(all).toHaveLength(12)
    for (let stop = 0; stop <= all.length; stop++) {
      const logs = iterateLogs(client, { fromBlock: 0, maxBlocks: 3 })
      const seen: string[] = []
      while (seen.length < stop) {
        const { value } = await logs.next()
        seen.push(formatLogPosition(value as Log))
      }
      const cursor = JSON.parse(JSON.stringify(logs.cursor())) as LogCursor
      await logs.return()
      seen.push(...(await collect(iterateLogs(client, { fromBlock: 0, cursor, maxBlocks: 2 }))).map(formatLogPosition))
      expect(seen).toEqual(all)
    }
  })

  test('resumes after any number of stops, with any windows and limits', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          logs: fc.array(fc.nat(4), { minLength: 1, maxLength: 60 }),
          stops: fc.array(fc.nat(6), { maxLength: 20 }),
          most: fc.integer({ min: 1, max: 40 }),
          maxBlocks: fc.integer({ min: 1, max: 40 }),
          concurrency: fc.integer({ min: 1, max: 8 }),
          checkReorg: fc.boolean(),
        }),
        async ({ logs: counts, stops, most, maxBlocks, concurrency, checkReorg }) => {
          const chain = createChain(counts)
          rejectAbove(chain, most)
          const client = createChainClient(chain)
          const seen: string[] = []
          let cursor: LogCursor | undefined
          for (const stop of [...stops, Infinity]) {
            const logs = iterateLogs(client, {
              fromBlock: 0,
              maxBlocks,
              concurrency,
              checkReorg,
              ...(cursor && { cursor }),
            })
            let left = stop
            if (left > 0)
              for await (const log of logs) {
                seen.push(formatLogPosition(log))
                if (--left <= 0) break
              }
            const saved = logs.cursor()
            cursor = saved && (JSON.parse(JSON.stringify(saved)) as LogCursor)
          }
          expect(seen).toEqual(chain.logs().map(formatLogPosition))
        },
      ),
      { numRuns: 150 },
    )
  })

  test('is reported with the progress, after the logs of each window were received', async () => {
    const chain = createChain(95)
    const reports: LogsProgress[] = []
    let taken = 0
    const counts: number[] = []
    const onProgress = (progress: LogsProgress): void => {
      reports.push(progress)
      counts.push(taken)
    }
    for await (const log of iterateLogs(createChainClient(chain), { fromBlock: 6, maxBlocks: 25, onProgress }))
      taken += log.removed ? 0 : 1
    expect(reports.map(({ blocksDone, cursor }) => [blocksDone, cursor.nextBlock])).toEqual([
      [25, 31],
      [50, 56],
      [75, 81],
      [90, 96],
    ])
    expect(reports.map(({ logs }) => logs)).toEqual(counts)
    expect(reports.at(-1)).toMatchObject({ fromBlock: 6n, toBlock: 95n, blocksTotal: 90, logs: chain.logs(6).length })
    for (const { blocksPerSecond } of reports) expect(blocksPerSecond).toBeGreaterThan(0)
  })

  test('does not continue if onProgress throws, which ends the iteration', async () => {
    const chain = createChain(95)
    const logs = iterateLogs(createChainClient(chain), {
      fromBlock: 0,
      onProgress: () => {
        throw new Error('the disk is full')
      },
    })
    await expect(collect(logs)).rejects.toThrow('the disk is full')
  })
})

describe('a slow consumer', () => {
  test('prefetches at most twice the concurrency', async () => {
    const chain = createChain(Array.from({ length: 1_000 }, () => 1))
    const logs = iterateLogs(createChainClient(chain), { fromBlock: 0, maxBlocks: 10, concurrency: 3 })
    const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))
    for (let taken = 1; taken <= 60; taken++) {
      await logs.next()
      await settle()
      // The window that the loop reads from, and six more.
      expect(getSpans(chain).length).toBeLessThanOrEqual(Math.ceil(taken / 10) + 7)
    }
    await logs.return()
    await settle()
    expect(getSpans(chain).length).toBeLessThanOrEqual(14)
  })

  test('never has more requests in flight than the concurrency', async () => {
    const chain = createChain(500)
    let underWay = 0
    let most = 0
    chain.before = async (method) => {
      if (method !== 'eth_getLogs') return
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setTimeout(resolve, 1))
      underWay--
    }
    await collect(iterateLogs(createChainClient(chain), { fromBlock: 0, maxBlocks: 10, concurrency: 5 }))
    expect(most).toBe(5)
  })
})

describe('the end of an iteration', () => {
  const hanging: ChainServer[] = []
  afterEach(async () => {
    for (const server of hanging.splice(0)) await server.close()
  })

  test('rejects with the reason of the signal at every await', async () => {
    const chain = createChain(200)
    const run = async (abortAt: number): Promise<boolean> => {
      const controller = new AbortController()
      const reason = { at: abortAt }
      let requests = 0
      chain.before = (method, params) => {
        if (method === 'eth_getLogs' && countBlocks(params) > 30)
          throw new NodeError('range', { code: 1, message: 'range' })
        if (++requests === abortAt) controller.abort(reason)
        if (requests > abortAt) throw new Error('requested after the abort')
      }
      const logs = iterateLogs(createChainClient(chain), {
        fromBlock: 'earliest',
        checkReorg: true,
        signal: controller.signal,
      })
      try {
        await collect(logs)
        return true
      } catch (error) {
        expect(error).toBe(reason)
        return false
      }
    }
    let abortAt = 1
    while (!(await run(abortAt))) abortAt++
    expect(abortAt).toBeGreaterThan(15)
  })

  test('sends nothing if the signal is already aborted', async () => {
    const chain = createChain(3)
    const logs = iterateLogs(createChainClient(chain), { fromBlock: 0, signal: AbortSignal.abort('before') })
    await expect(logs.next()).rejects.toBe('before')
    expect(chain.requests).toEqual([])
  })

  test.each(['break', 'return', 'abort', 'failure'] as const)('by %s leaves no request and no timer', async (how) => {
    const chain = createChain(Array.from({ length: 200 }, () => 1))
    const server = await serveChain(chain)
    hanging.push(server)
    const client = createClient({ url: server.url, retry: false })
    const controller = new AbortController()
    let calls = 0
    let failed = false
    chain.before = (method) => {
      if (method !== 'eth_getLogs' || ++calls === 1) return undefined
      // All but the first hang, until the fourth fails.
      if (how === 'failure' && calls === 2) {
        failed = true
        throw new NodeError('auth', { code: -32_000, message: 'no such key', status: 401 })
      }
      return new Promise(() => {})
    }
    const logs = iterateLogs(client, { fromBlock: 1, maxBlocks: 10, signal: controller.signal })
    const taken: Log[] = []
    const open = async (count: number): Promise<void> => {
      await vi.waitFor(() => expect(server.open()).toBe(count), { timeout: 30_000 })
    }
    if (how === 'break') {
      for await (const log of logs) {
        taken.push(log)
        await open(4)
        break
      }
    } else {
      for (let i = 0; i < 10; i++) taken.push((await logs.next()).value as Log)
      const pending = logs.next()
      if (how === 'failure') await expect(pending).rejects.toMatchObject({ kind: 'auth' })
      else {
        await open(4)
        if (how === 'abort') controller.abort('enough')
        else expect(await logs.return()).toEqual({ done: true, value: undefined })
        if (how === 'abort') await expect(pending).rejects.toBe('enough')
        else expect(await pending).toEqual({ done: true, value: undefined })
      }
    }
    await open(0)
    expect(failed).toBe(how === 'failure')
    expect(taken.length).toBe(how === 'break' ? 1 : 10)
    client.close()
  })
})

describe('checkReorg', () => {
  let reorgsFound = 0
  /** One run from a cursor. Drops the logs that a reorganization removed. */
  const run = async (chain: ReorgChain, seen: Log[], cursor?: LogCursor): Promise<LogCursor | undefined> => {
    const logs = iterateLogs(createChainClient(chain), {
      fromBlock: 0,
      maxBlocks: 7,
      checkReorg: true,
      ...(cursor && { cursor: JSON.parse(JSON.stringify(cursor)) as LogCursor }),
    })
    try {
      for await (const log of logs) seen.push(log)
    } catch (error) {
      if (!isReorgError(error)) {
        if (isKeyrailError(error) && error.retryable) return logs.cursor()
        throw error
      }
      const { fromBlock } = error.reorg
      reorgsFound++
      expect(error.message).toContain(`block ${fromBlock}`)
      expect(error.reorg.cursor).toEqual(logs.cursor())
      while ((seen.at(-1)?.blockNumber ?? -1n) >= fromBlock) seen.pop()
    }
    return logs.cursor()
  }

  test('costs nothing far below the head, and three small calls for a window near it', async () => {
    const chain = createChain(1_000)
    const client = createChainClient(chain)
    await collect(iterateLogs(client, { fromBlock: 0, toBlock: 936, checkReorg: true }))
    expect(chain.requests.filter(({ method }) => method === 'eth_getBlockByNumber')).toHaveLength(0)
    await collect(iterateLogs(client, { fromBlock: 900, toBlock: 1_000, checkReorg: true }))
    // And one for the block below the first.
    expect(chain.requests.filter(({ method }) => method === 'eth_getBlockByNumber')).toHaveLength(4)
  })

  test('rereads a window that changed while it was read, without an error', async () => {
    const chain = createChain(20)
    let reorgs = 0
    chain.after = (method) => {
      if (method === 'eth_getLogs' && reorgs++ < 2) chain.reorg(3)
    }
    const seen = await collect(iterateLogs(createChainClient(chain), { fromBlock: 0, checkReorg: true }))
    expect(seen.map(formatLogPosition)).toEqual(chain.logs().map(formatLogPosition))
    expect(reorgs).toBe(3)
  })

  test('names the first block that may have changed, and resumes from it', async () => {
    const chain = createChain(100)
    let reorged = false
    chain.before = (method, params) => {
      if (method !== 'eth_getLogs' || Number((params[0] as Range).toBlock) < 90 || reorged) return
      reorged = true
      chain.reorg(20, 21)
    }
    const seen: Log[] = []
    const logs = iterateLogs(createChainClient(chain), { fromBlock: 0, maxBlocks: 10, checkReorg: true })
    const failure = await getFailure(
      (async () => {
        for await (const log of logs) seen.push(log)
      })(),
    )
    expect(isReorgError(failure)).toBe(true)
    if (!isReorgError(failure)) return
    // Blocks 81 and above were replaced; the windows near the head start at block 37.
    expect(failure.reorg.fromBlock).toBe(77n)
    expect(failure).toMatchObject({ kind: 'badResponse', retryable: true })
    const remaining = seen.filter(({ blockNumber }) => blockNumber < 77n)
    const { cursor } = failure.reorg
    const rest = await collect(iterateLogs(createChainClient(chain), { fromBlock: 0, checkReorg: true, cursor }))
    expect([...remaining, ...rest].map(formatLogPosition)).toEqual(chain.logs().map(formatLogPosition))
  })

  test('finds a reorganization between two runs, with the cursor', async () => {
    for (const taken of [3, 1_000]) {
      const chain = createChain(Array.from({ length: 10 }, () => 1))
      const logs = iterateLogs(createChainClient(chain), { fromBlock: 0, checkReorg: true })
      for (let i = 0; i < taken && !(await logs.next()).done; i++);
      const cursor = logs.cursor() as LogCursor
      chain.reorg(9, 12)
      const failure = await getFailure(
        collect(iterateLogs(createChainClient(chain), { fromBlock: 0, checkReorg: true, cursor })),
      )
      expect(isReorgError(failure) && failure.reorg.fromBlock).toBeLessThanOrEqual(2n)
    }
  })

  test('ends with the canonical logs if the chain changes between any two calls', async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constant({ depth: 0, blocks: 0 }) },
      { weight: 2, arbitrary: fc.record({ depth: fc.constant(0), blocks: fc.integer({ min: 1, max: 4 }) }) },
      {
        weight: 2,
        arbitrary: fc.record({ depth: fc.integer({ min: 1, max: 12 }), blocks: fc.integer({ min: 0, max: 14 }) }),
      },
    )
    reorgsFound = 0
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 40 }),
        fc.array(step, { minLength: 10, maxLength: 80, size: 'max' }),
        async (blocks, script) => {
          const chain = createChain(blocks)
          const steps = [...script]
          chain.before = () => {
            const { depth, blocks: count } = steps.shift() ?? { depth: 0, blocks: 0 }
            if (depth > 0) chain.reorg(depth, count)
            else chain.mine(count)
          }
          const seen: Log[] = []
          let cursor: LogCursor | undefined
          for (let runs = 0; steps.length > 0 && runs < 100; runs++) {
            cursor = await run(chain, seen, cursor)
          }
          // The chain may now be shorter than the range read: it has to grow before the change can be detected.
          chain.mine(40)
          for (let runs = 0; runs < 3; runs++) cursor = await run(chain, seen, cursor)
          expect(seen.map(formatLogPosition)).toEqual(chain.logs().map(formatLogPosition))
        },
      ),
      { numRuns: 300 },
    )
    expect(reorgsFound).toBeGreaterThan(20)
  })
})
