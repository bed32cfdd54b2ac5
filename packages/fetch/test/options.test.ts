import { describe, expect, test } from 'vitest'
import { createClient, isKeyrailError, iterateLogs, subscribe } from '../src/index.ts'

const key = 'kr_a0123456789abcdefghijABCDEFGHIJ0123456789'
// Nothing listens on this port, so a request would fail with another kind.
const client = createClient({ url: 'http://127.0.0.1:1', retry: false })
const timer = 2 ** 31 - 1

interface Reader {
  readonly make: (options: object) => unknown
  readonly needs?: object
  /** Options that are whole numbers, with their least and greatest values. */
  readonly ranges: readonly (readonly [name: string, least: number, most: number])[]
  readonly others: readonly string[]
}

const readers: Readonly<Record<string, Reader>> = {
  iterateLogs: {
    make: (options) => iterateLogs(client, options as never),
    needs: { fromBlock: 0 },
    ranges: [
      ['maxBlocks', 1, 2 ** 31],
      ['concurrency', 1, 64],
    ],
    others: [
      'address',
      'topics',
      'fromBlock',
      'toBlock',
      'cursor',
      'onProgress',
      'checkReorg',
      'signal',
      'timeoutMs',
      'retries',
      'priority',
      'minBlock',
    ],
  },
  subscribe: {
    make: (options) => subscribe(client, { blocks: true }, options),
    ranges: [
      ['pollingIntervalMs', 10, timer],
      ['reorgDepth', 1, 1_024],
    ],
    others: ['cursor', 'fromBlock', 'onError', 'signal', 'timeoutMs', 'retries', 'priority', 'minBlock'],
  },
}

/** Returns the message with which wrong options are rejected at once. */
function getRejection(make: () => unknown): string {
  try {
    make()
  } catch (error) {
    if (isKeyrailError(error, 'invalidRequest')) return error.message
    throw error
  }
  throw new Error('the options were accepted')
}

describe.each(Object.entries(readers))('%s', (name, { make, needs, ranges, others }) => {
  test.each(ranges)('accepts %s from %d to %d, and names the values it rejects', (option, least, most) => {
    const given = (value: unknown): unknown => make({ ...needs, [option]: value })
    for (const value of [least, most, undefined]) expect(() => given(value)).not.toThrow()
    for (const value of [least - 1, least + 0.5, most + 1, -1, Infinity, Number.NaN])
      expect(getRejection(() => given(value))).toBe(
        `${option} must be a whole number from ${least} to ${most}, not ${value}`,
      )
    for (const value of [key, { key }, null, true])
      expect(getRejection(() => given(value))).toMatch(
        new RegExp(`^${option} must be a whole number from .*, not of type ${typeof value}$`),
      )
  })

  test.each(others)('rejects a key as %s without repeating it', (option) => {
    for (const value of [key, { key }, null]) {
      const message = getRejection(() =>
        make({ ...needs, [option]: value === null && option === 'topics' ? key : value }),
      )
      expect(message).toContain(option)
      expect(message).not.toContain(key)
    }
  })

  test('rejects an unknown name and lists the known ones', () => {
    const message = getRejection(() => make({ ...needs, xyz: key }))
    expect(message).toContain(`Unknown option "xyz". The options of ${name} are `)
    for (const option of [...ranges.map(([option]) => option), ...others]) expect(message).toContain(option)
    expect(message).not.toContain(key)
  })

  test('rejects anything but an object', () => {
    expect(getRejection(() => make(key as never))).toBe(`${name} takes an object of options, not a string`)
  })
})

test.each([
  [{ address: [key] }, 'address must be 0x and 40 hex digits (resolve a name such as vitalik.eth first)'],
  [{ address: 5 }, 'address must be 0x and 40 hex digits (resolve a name such as vitalik.eth first)'],
  [{ topics: [key] }, 'topics must be 0x and 64 hex digits'],
  [{ topics: [[key]] }, 'topics must be 0x and 64 hex digits'],
  [{ topics: [undefined] }, 'topics must be 0x and 64 hex digits'],
])('a query that no log can match is rejected: %o', (condition, message) => {
  expect(getRejection(() => iterateLogs(client, { fromBlock: 0, ...condition } as never))).toBe(message)
  expect(getRejection(() => subscribe(client, { logs: condition as never }))).toBe(message)
})
