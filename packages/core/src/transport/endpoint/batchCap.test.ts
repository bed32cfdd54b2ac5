import { describe, expect, test } from 'vitest'
import { createBatchCap } from './batchCap.ts'
import type { BatchCap } from './batchCap.ts'

/** How often a batch has to be split until a larger one is tried. */
const splitsUntilTrial = (cap: BatchCap): number => {
  const before = cap.calls()
  let splits = 0
  while (cap.calls() === before && splits < 100_000) {
    cap.exceeded()
    splits++
  }
  return splits
}

describe('createBatchCap', () => {
  test('is the configured number until a batch is rejected', () => {
    const cap = createBatchCap(100)
    for (let i = 0; i < 100; i++) cap.exceeded()
    expect(cap.calls()).toBe(100)
  })

  test('a cap that the endpoint named is never exceeded again', () => {
    const cap = createBatchCap(100)
    cap.setLimit(20)
    for (let i = 0; i < 1_000; i++) cap.exceeded()
    expect(cap.calls()).toBe(20)
    cap.setLimit(50)
    expect(cap.calls()).toBe(20)
  })

  test('is halved after a rejection without a number, and grows back while batches are split', () => {
    const cap = createBatchCap(100)
    cap.rejected(100)
    expect(cap.calls()).toBe(50)
    expect(splitsUntilTrial(cap)).toBe(8)
    expect(cap.calls()).toBe(100)
  })

  test('after each rejection, a larger batch is tried half as often', () => {
    const cap = createBatchCap(64)
    const waits = []
    for (let i = 0; i < 12; i++) {
      cap.rejected(64)
      waits.push(splitsUntilTrial(cap))
    }
    expect(waits).toEqual([8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 8_192])
  })

  test('many rejections in a row do not stop joining: from 1 it recovers to the configured number', () => {
    const cap = createBatchCap(100)
    for (const size of [100, 50, 25, 12, 6, 3, 1]) cap.rejected(size)
    expect(cap.calls()).toBe(1)
    const seen = []
    while (cap.calls() < 100) {
      splitsUntilTrial(cap)
      seen.push(cap.calls())
    }
    expect(seen).toEqual([2, 4, 8, 16, 32, 64, 100])
  })

  test('a guess never raises the current cap', () => {
    const cap = createBatchCap(10)
    cap.rejected(10)
    cap.rejected(100)
    expect(cap.calls()).toBe(5)
  })
})
