import { describe, expect, test } from 'vitest'
import { createWindowSize } from './windowSize.ts'
import type { WindowSize } from './windowSize.ts'

/** Runs it against a node that accepts this many blocks. @returns How many requests the node rejected. */
const run = (size: WindowSize, requests: number, accepted: number, logsPerBlock = 0): number => {
  let rejections = 0
  for (let i = 0; i < requests; i++) {
    const blocks = size.current()
    if (blocks > accepted) {
      rejections++
      size.rejected(blocks, NaN)
    } else size.succeeded(blocks, blocks * logsPerBlock)
  }
  return rejections
}

describe('createWindowSize', () => {
  test('starts at 1,000 blocks and doubles while requests succeed, up to 100,000', () => {
    const size = createWindowSize({})
    const seen = Array.from({ length: 9 }, () => {
      const blocks = size.current()
      size.succeeded(blocks, 0)
      return blocks
    })
    expect(seen).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 100_000, 100_000])
  })

  test('never exceeds the configured limit, nor a cap that the server named', () => {
    const size = createWindowSize({}, 50)
    expect(run(size, 20, 100)).toBe(0)
    expect(size.current()).toBe(50)
    const capped = createWindowSize({})
    capped.rejected(1_000, NaN, { maxBlocks: 300 })
    expect(run(capped, 100, 300)).toBe(0)
    expect(capped.current()).toBe(300)
  })

  test('halves if the named cap is not below the rejected size', () => {
    const size = createWindowSize({})
    size.rejected(1_000, NaN, { maxBlocks: 10_000 })
    expect(size.current()).toBe(500)
  })

  test('uses the suggested size, and halves without one', () => {
    const size = createWindowSize({})
    size.rejected(1_000, 700)
    expect(size.current()).toBe(700)
    size.rejected(700, NaN)
    expect(size.current()).toBe(350)
  })

  test('does not shrink again for a window that was sent before it shrank', () => {
    const size = createWindowSize({})
    size.rejected(1_000, 100)
    size.rejected(1_000, NaN)
    expect(size.current()).toBe(100)
    // Four rejections at once count as one: growth waits for two windows, not for sixteen.
    const other = createWindowSize({})
    for (let i = 0; i < 4; i++) other.rejected(1_000, NaN)
    for (let i = 0; i < 2; i++) other.succeeded(500, 0)
    expect(other.current()).toBe(1_000)
  })

  test.each([1, 3, 10, 77, 300, 900, 1_500])(
    'loses few requests to a limit of %i blocks that is never named',
    (accepted) => {
      const size = createWindowSize({})
      expect(run(size, 100, accepted)).toBeLessThanOrEqual(17)
      // Once the limit is known, one request in 33 is above it.
      expect(run(size, 1_000, accepted)).toBeLessThanOrEqual(31)
      expect(size.current()).toBeGreaterThan(accepted / 4)
    },
  )

  test('grows back soon when the chain has fewer logs again', () => {
    const size = createWindowSize({})
    run(size, 50, 10)
    let requests = 0
    for (; size.current() < 10_000 && requests < 1_000; requests++) size.succeeded(size.current(), 0)
    expect(requests).toBeLessThan(80)
  })

  test('aims at 10,000 logs a response', () => {
    const size = createWindowSize({})
    run(size, 50, Infinity, 100)
    expect(size.current()).toBeLessThanOrEqual(100)
    expect(size.current()).toBeGreaterThanOrEqual(50)
    const crowded = createWindowSize({})
    run(crowded, 50, Infinity, 100_000)
    expect(crowded.current()).toBe(1)
  })

  test('passes what was learned to the next iteration of the same owner', () => {
    const owner = {}
    const first = createWindowSize(owner)
    expect(first.measured()).toBe(false)
    first.rejected(1_000, NaN, { maxBlocks: 40 })
    first.succeeded(40, 0)
    const second = createWindowSize(owner)
    expect(second.measured()).toBe(true)
    expect(second.current()).toBe(40)
    expect(createWindowSize({}).current()).toBe(1_000)
  })
})
