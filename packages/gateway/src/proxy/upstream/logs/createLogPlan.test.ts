import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../../test/fuzzCases.ts'
import { createLogPlan } from './createLogPlan.ts'
import type { BlockRange, LogPart } from './createLogPlan.ts'

const show = ({ from, to }: BlockRange): string => `${from}-${to}`
const items = (part: BlockRange): Buffer => Buffer.from(show(part))

/** Runs a plan one query after the other. @returns Every query, and the parts of the result. */
const run = (
  plan: ReturnType<typeof createLogPlan>,
  rejects: (part: LogPart) => Parameters<typeof plan.reject>[1] | undefined,
): { queries: string[]; logs: string | undefined } => {
  const queries: string[] = []
  for (let part = plan.next(); part !== undefined; part = plan.next()) {
    queries.push(show(part))
    const hint = rejects(part)
    if (hint === undefined) plan.complete(part, items(part))
    else if (!plan.reject(part, hint)) return { queries, logs: undefined }
  }
  return { queries, logs: plan.logs().join(' ') }
}

describe('a plan', () => {
  const options = { size: 100, maxQueries: 100, concurrency: 4 }

  test('halves a range until the node accepts a part, then keeps that size', () => {
    const { queries, logs } = run(createLogPlan({ from: 0, to: 99 }, options), ({ from, to }) =>
      to - from >= 30 ? {} : undefined,
    )
    expect(queries).toEqual(['0-99', '0-49', '0-24', '25-49', '50-74', '75-99'])
    expect(logs).toBe('0-24 25-49 50-74 75-99')
  })

  test('uses the maximum number of blocks that the error names', () => {
    const { queries } = run(createLogPlan({ from: 5, to: 99 }, options), ({ from, to }) =>
      to - from >= 40 ? { maxBlocks: 40 } : undefined,
    )
    expect(queries).toEqual(['5-99', '5-44', '45-84', '85-99'])
  })

  test('uses the range that the error suggests, and its length if it starts at another block', () => {
    const suggest = (hint: { fromBlock: number; toBlock: number }) =>
      run(createLogPlan({ from: 10, to: 19 }, options), ({ from, to }) => (to - from >= 5 ? hint : undefined)).queries
    expect(suggest({ fromBlock: 10, toBlock: 12 })).toEqual(['10-19', '10-12', '13-15', '16-18', '19-19'])
    expect(suggest({ fromBlock: 100, toBlock: 103 })).toEqual(['10-19', '10-13', '14-17', '18-19'])
  })

  test('halves the range if the suggested one is rejected too', () => {
    const { queries } = run(createLogPlan({ from: 0, to: 9 }, options), ({ from, to }) =>
      to - from >= 4 ? { maxBlocks: 8 } : undefined,
    )
    expect(queries).toEqual(['0-9', '0-7', '0-3', '4-7', '8-9'])
  })

  test('splits a part with many logs without making the others smaller', () => {
    const plan = createLogPlan({ from: 0, to: 39 }, { ...options, size: 10 })
    const { queries } = run(plan, (part) => (show(part) === '10-19' ? {} : undefined))
    expect(queries).toEqual(['0-9', '10-19', '10-14', '15-19', '20-29', '30-39'])
    expect(plan.size()).toBe(10)
  })

  test('runs its first query alone, and then several', () => {
    const plan = createLogPlan({ from: 0, to: 99 }, { ...options, size: 10 })
    const first = plan.next()
    expect(plan.next()).toBeUndefined()
    if (first !== undefined) plan.complete(first, items(first))
    expect(Array.from({ length: 5 }, () => plan.next()).map((part) => part && show(part))).toEqual([
      '10-19',
      '20-29',
      '30-39',
      '40-49',
      undefined,
    ])
  })

  test.each([
    ['a single block is rejected', { from: 7, to: 7 }, {}],
    ['there are too many addresses', { from: 0, to: 99 }, { tooManyAddresses: true }],
    ['the range needs too many queries', { from: 0, to: 99 }, { maxBlocks: 1 }],
  ])('gives up if %s', (_, range, hint) => {
    expect(run(createLogPlan(range, options), () => hint)).toEqual({ queries: [show(range)], logs: undefined })
  })

  test('knows beforehand that a range needs too many queries', () => {
    const fits = (to: number): boolean => createLogPlan({ from: 0, to }, { ...options, size: 10 }).fits()
    expect([fits(999), fits(1_000)]).toEqual([true, false])
  })
})

/** A node with two limits: how many blocks a query may have, and how many logs it may return. Block `n` has `n % 7` logs. */
const isAccepted = ({ from, to }: BlockRange, node: { maxBlocks: number; maxLogs: number }): boolean => {
  let logs = 0
  for (let block = from; block <= to; block += 1) logs += block % 7
  return to - from < node.maxBlocks && logs <= node.maxLogs
}

test('a plan reads each block once and in order, for any limits of the node and any order of responses', () => {
  const node = fc.record({
    maxBlocks: fc.integer({ min: 1, max: 300 }),
    maxLogs: fc.integer({ min: 6, max: 500 }),
    names: fc.boolean(),
  })
  const bounds = fc.record({
    size: fc.integer({ min: 1, max: 400 }),
    maxQueries: fc.integer({ min: 1, max: 120 }),
    concurrency: fc.integer({ min: 1, max: 5 }),
  })
  fc.assert(
    fc.property(
      fc.record({ from: fc.nat(1_000), blocks: fc.integer({ min: 1, max: 300 }) }),
      node,
      bounds,
      fc.infiniteStream(fc.nat(4)),
      ({ from, blocks }, limits, options, picks) => {
        const range = { from, to: from + blocks - 1 }
        const plan = createLogPlan(range, options)
        const inFlight: LogPart[] = []
        let queries = 0
        let gaveUp = !plan.fits()
        while (!gaveUp && !plan.isComplete()) {
          for (let part = plan.next(); part !== undefined; part = plan.next()) {
            inFlight.push(part)
            queries += 1
          }
          expect(inFlight.length).toBeLessThanOrEqual(options.concurrency)
          const [part] = inFlight.splice((picks.next().value as number) % inFlight.length, 1)
          if (part === undefined) throw new Error('the plan waits for nothing')
          if (isAccepted(part, limits)) plan.complete(part, items(part))
          else gaveUp = !plan.reject(part, limits.names ? { maxBlocks: limits.maxBlocks } : {})
        }
        expect(queries).toBeLessThanOrEqual(options.maxQueries)
        // With enough queries for each block and each rejection, it never gives up.
        if (options.maxQueries >= 2 * blocks) expect(gaveUp).toBe(false)
        if (gaveUp) return
        const read = plan.logs().map((logs) => logs.toString().split('-').map(Number) as [number, number])
        expect(read.at(0)?.[0]).toBe(range.from)
        expect(read.at(-1)?.[1]).toBe(range.to)
        for (const [index, [first]] of read.entries())
          if (index > 0) expect(first).toBe((read[index - 1]?.[1] ?? 0) + 1)
      },
    ),
    { numRuns: fuzzCases(500) },
  )
})
