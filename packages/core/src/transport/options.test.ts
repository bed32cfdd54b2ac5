import { describe, expect, test } from 'vitest'
import { isKeyrailError } from '../failure/keyrailError.ts'
import { batch } from './batch.ts'
import { breaker } from './breaker.ts'
import { budget } from './budget.ts'
import { cache } from './cache.ts'
import { createTransport } from './createTransport.ts'
import { failover } from './failover.ts'
import { hooks } from '../observe/hooks.ts'
import { webSocket } from '../socket/webSocket.ts'
import { retry } from './retry.ts'
import { safeWrites } from './safeWrites.ts'
import { deadline } from '../../test/layers.ts'

const url = 'http://127.0.0.1:1'
const key = 'kr_a0123456789abcdefghijABCDEFGHIJ0123456789'

/** A numeric option: its name in messages, and its range. */
type Range = readonly [name: string, least: number, most: number]

interface Layer {
  readonly make: (options: object) => unknown
  /** Required options. */
  readonly needs?: object
  readonly ranges?: readonly Range[]
  /** Options that are not numbers. */
  readonly others?: readonly string[]
  /** The object has other members than options, so unknown names are accepted. */
  readonly open?: boolean
}

const timer = 2 ** 31 - 1

const emptyHash = (): string => '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

const layers: Readonly<Record<string, Layer>> = {
  deadline: { make: deadline, ranges: [['timeoutMs', 1, timer]] },
  retry: {
    make: retry,
    ranges: [
      ['retries', 0, 1e9],
      ['baseMs', 0, 1e9],
      ['capMs', 0, 1e9],
    ],
  },
  batch: {
    make: batch,
    ranges: [
      ['maxCalls', 1, 100_000],
      ['maxBytes', 1, 2 ** 31],
    ],
  },
  budget: {
    make: budget,
    ranges: [
      ['requestsPerSecond', 0.001, timer],
      ['computeUnitsPerSecond', 0.001, timer],
      ['requestsPerDay', 0.001, timer],
      ['computeUnitsPerDay', 0.001, timer],
      ['maxWaitMs', 0, timer],
      ['computeUnits.eth_call', 0, 1e9],
    ],
    others: ['computeUnits'],
  },
  'budget with a limit': { make: budget, needs: { requestsPerSecond: 5 }, ranges: [['burst', 0.001, timer]] },
  breaker: {
    make: breaker,
    ranges: [
      ['failures', 1, 1e6],
      ['failureRate', 0.01, 1],
      ['minCalls', 1, 1e6],
      ['windowMs', 1, timer],
      ['openMs', 1, timer],
      ['deadMs', 1, timer],
    ],
  },
  failover: {
    make: (options) => failover([{ url }], options),
    ranges: [
      ['attemptTimeoutMs', 1, timer],
      ['acceptableWaitMs', 0, timer],
      ['hedge.percentile', 1, 100],
      ['hedge.minMs', 0, timer],
      ['hedge.maxRatio', 0, 1],
    ],
    others: ['order', 'hedge', 'minBlock'],
  },
  'an endpoint': {
    make: (options) => failover([{ url, ...options }]),
    ranges: [['weight', 0, 1e6]],
    open: true,
  },
  cache: {
    make: cache,
    ranges: [
      ['maxBytes', 1, 2 ** 40],
      ['finalityDepth', 1, 2 ** 32],
    ],
    others: ['store'],
  },
  safeWrites: {
    make: safeWrites as (options: object) => unknown,
    needs: { keccak256: emptyHash },
    ranges: [['resends', 0, 100]],
    others: ['keccak256'],
  },
  createTransport: {
    make: createTransport as (options: object) => unknown,
    needs: { url },
    ranges: [
      ['timeoutMs', 1, timer],
      ['maxResponseBytes', 1, 2 ** 31],
      ['maxInFlight', 1, 100_000],
      ['maxWaitMs', 1, timer],
    ],
    others: [
      'endpoints',
      'network',
      'fetch',
      'agent',
      'batch',
      'budget',
      'retry',
      'cache',
      'coalesce',
      'safeWrites',
      'layers',
      'stats',
      'hooks',
      'tracing',
      'diagnostics',
      'webSocket',
    ],
  },
  webSocket: {
    make: webSocket as (options: object) => unknown,
    ranges: [['heartbeatMs', 1, timer]],
    others: ['url', 'requests', 'WebSocket'],
  },
}

const all = Object.entries(layers)

/** Sets an option that may be nested, such as `hedge.minMs`. */
function withOption(path: string, value: unknown): object {
  const [outer = '', inner] = path.split('.')
  return { [outer]: inner ? { [inner]: value } : value }
}

/** Returns the error that a function throws. */
function getThrown(make: () => unknown): Error {
  try {
    make()
  } catch (error) {
    expect(error).toMatchObject({ kind: 'invalidRequest', source: 'client', retryable: false })
    if (isKeyrailError(error)) return error
  }
  throw new Error('the options were accepted')
}

describe('every layer', () => {
  test.each(all)('%s rejects a number out of its range, with its name, the range and the value', (_, layer) => {
    const { make, needs, ranges = [] } = layer
    for (const [name, least, most] of ranges) {
      const values = [least - 0.001, -1, -Infinity, most * 1.001, Infinity, Number.NaN]
      for (const value of values.filter((one) => !(one >= least && one <= most)))
        expect(getThrown(() => make({ ...needs, ...withOption(name, value) })).message).toBe(
          `${name} must be a number from ${least} to ${most}, not ${value}`,
        )
    }
  })

  test.each(all)('%s accepts the ends of each range, and undefined', (_, layer) => {
    const { make, needs, ranges = [] } = layer
    for (const [name, least, most] of ranges)
      for (const value of [least, most, undefined])
        expect(() => make({ ...needs, ...withOption(name, value) })).not.toThrow()
  })

  test.each(all)('%s rejects values that are not numbers, without repeating them', (_, layer) => {
    const { make, needs, ranges = [] } = layer
    for (const [name] of ranges)
      for (const value of [key, { key }, [key], true, 5n, null, Symbol(key), () => key]) {
        const { message } = getThrown(() => make({ ...needs, ...withOption(name, value) }))
        expect(message).toContain(name)
        expect(message).toContain(`, not of type ${typeof value}`)
        expect(message).not.toContain(key)
      }
  })

  test.each(all)('%s rejects a key in any other place, naming the option', (_, layer) => {
    const { make, needs, others = [] } = layer
    for (const name of others)
      for (const value of [key, [key]]) {
        const { message } = getThrown(() => make({ ...needs, [name]: value }))
        expect(message).toContain(name)
        expect(message).not.toContain(key)
      }
  })

  test.each(all.filter(([, { open }]) => !open))('%s rejects a name that does not exist', (name, layer) => {
    const { make, needs } = layer
    const { message } = getThrown(() => make({ ...needs, xyz: key }))
    expect(message).toMatch(`Unknown option "xyz". The options of ${name.split(' ')[0]} are `)
    expect(message).not.toContain(key)
    for (const [path] of layer.ranges ?? []) expect(message).toContain(path.replace(/^batch\.|\..*$/g, ''))
    for (const option of layer.others ?? []) expect(message).toContain(option)
  })

  test.each(all.filter(([, { open }]) => !open))('%s rejects a key in place of its options', (_, { make }) => {
    for (const given of [key, [key]]) expect(getThrown(() => make(given as object)).message).not.toContain(key)
  })
})

test('an option inside another that does not exist is named', () => {
  expect(getThrown(() => failover([{ url }], { hedge: { min: 5 } as object })).message).toBe(
    'Unknown option "min". The options of hedge are percentile, minMs, maxRatio.',
  )
  expect(getThrown(() => hooks({ onEror: () => {} } as object)).message).toContain('Unknown option "onEror"')
})

test('a name of an endpoint that is not a string is rejected', () => {
  expect(getThrown(() => failover([{ url, name: { key } as never }])).message).toBe(
    'name of an endpoint must be a string, not an object',
  )
})

test('a value that is not a list of endpoints is rejected', () => {
  for (const endpoints of [undefined, key, {}, []])
    expect(getThrown(() => failover(endpoints as never)).message).toContain(
      'failover takes an array of 1 to 30 endpoints',
    )
})
