import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../../test/fuzzCases.ts'
import { createLogIndex } from './createLogIndex.ts'
import type { SubscriptionFilter } from './subscriptionRequest.ts'

const addresses = Array.from({ length: 4 }, (_, index) => `0x${String(index).repeat(40)}`)
const words = Array.from({ length: 4 }, (_, index) => `0x${String(index).repeat(64)}`)

const filters: fc.Arbitrary<SubscriptionFilter> = fc.record({
  addresses: fc.subarray(addresses),
  topics: fc.array(fc.oneof(fc.constant([]), fc.subarray(words)), { maxLength: 4 }),
})
const logs = fc.record({
  address: fc.constantFrom(...addresses),
  topics: fc.array(fc.constantFrom(...words), { maxLength: 4 }),
})
type Log = typeof logs extends fc.Arbitrary<infer T> ? T : never

/** As geth matches a filter. */
const isMatch = ({ addresses: accepted, topics }: SubscriptionFilter, log: Log): boolean =>
  (accepted.length === 0 || accepted.includes(log.address)) &&
  topics.length <= log.topics.length &&
  topics.every((options, position) => options.length === 0 || options.includes(log.topics[position] as string))

const getMatches = <T extends object>(index: ReturnType<typeof createLogIndex<T>>, log: Log): readonly T[] => {
  const found: T[] = []
  for (const _ of index.match(log, (target) => found.push(target))) continue
  return found
}

describe('an index of filters', () => {
  test('finds what a comparison of each log with each filter finds, while filters come and go', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ filter: filters, isRemoved: fc.boolean() }), { maxLength: 120 }),
        fc.array(logs, { minLength: 1, maxLength: 20 }),
        (entries, given) => {
          const index = createLogIndex<object>()
          for (const entry of entries) index.add(entry.filter, entry)
          for (const entry of entries) if (entry.isRemoved) index.remove(entry.filter, entry)
          for (const log of given) {
            const expected = entries.filter(({ filter, isRemoved }) => !isRemoved && isMatch(filter, log))
            const found = getMatches(index, log)
            expect(found).toHaveLength(expected.length)
            expect(new Set(found)).toEqual(new Set(expected))
          }
        },
      ),
      { numRuns: fuzzCases(500) },
    )
  })

  test('finds filters with more combinations than it has keys for', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`)
    const events = Array.from({ length: 3 }, (_, index) => `0x${index.toString(16).padStart(64, '0')}`)
    const index = createLogIndex<object>()
    const target = {}
    const filter = { addresses: many, topics: [events, [], events] }
    index.add(filter, target)
    const [a = '', b = ''] = events
    expect(getMatches(index, { address: many[999] as string, topics: [a, words[3] as string, b] })).toEqual([target])
    expect(getMatches(index, { address: many[999] as string, topics: [a, a, words[3] as string] })).toEqual([])
    expect(getMatches(index, { address: many[999] as string, topics: [a, a] })).toEqual([])
    expect(getMatches(index, { address: addresses[3] as string, topics: [a, a, b] })).toEqual([])
    index.remove(filter, target)
    expect(getMatches(index, { address: many[999] as string, topics: [a, a, b] })).toEqual([])
  })

  test('compares a filter only with logs that have a value of its shortest list', () => {
    const take = (count: number): string[] => words.slice(0, count)
    const [word = '', , , last = ''] = words
    const [address = ''] = addresses
    const expected: readonly (readonly [filter: SubscriptionFilter, compared: Log, skipped: Log])[] = [
      [
        { addresses, topics: [take(4), take(4), take(4), take(2)] },
        { address: '', topics: ['', '', '', word] },
        { address, topics: [word, word, word, last] },
      ],
      [
        { addresses: addresses.slice(0, 3), topics: [take(3), take(4)] },
        { address, topics: ['', ''] },
        { address: '', topics: [word, word] },
      ],
      [
        { addresses: [], topics: [take(4), [], take(3)] },
        { address: '', topics: ['', '', word] },
        { address, topics: [word, word, last] },
      ],
    ]
    for (const [filter, compared, skipped] of expected) {
      const index = createLogIndex<object>()
      // It yields after 256 comparisons.
      const targets = Array.from({ length: 256 }, () => ({}))
      const countSteps = (log: Log): number => [...index.match(log, () => {})].length
      for (const target of targets) index.add(filter, target)
      expect([countSteps(compared), countSteps(skipped)]).toEqual([1, 0])
      for (const target of targets) index.remove(filter, target)
      expect(countSteps(compared)).toBe(0)
    }
  })

  test('yields after each few comparisons, also if thousands of filters share a topic', () => {
    const index = createLogIndex<object>()
    const [event = '', one = ''] = words
    for (let count = 0; count < 10_000; count += 1) index.add({ addresses: [], topics: [[event], [one, event]] }, {})
    let visits = 0
    let steps = 0
    let most = 0
    for (const _ of index.match({ address: '', topics: [event, one] }, () => (visits += 1))) {
      steps += 1
      most = Math.max(most, visits)
      visits = 0
    }
    expect(steps).toBe(Math.floor(10_000 / 256))
    expect(most).toBe(256)
  })

  test('compares a log of a popular contract only with the filters of its account', () => {
    const index = createLogIndex<object>()
    const toWord = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`
    const [address = ''] = addresses
    for (let account = 0; account < 1_000; account += 1)
      index.add({ addresses: [address], topics: [[], [], [toWord(account)]] }, {})
    const log = { address, topics: [words[1] ?? '', words[1] ?? '', toWord(7)] }
    // It would yield if it made 256 comparisons.
    expect([...index.match(log, () => {})]).toEqual([])
    expect(getMatches(index, log)).toHaveLength(1)
  })
})
