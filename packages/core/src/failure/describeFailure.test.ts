import { expect, test } from 'vitest'
import { describeFailure } from './describeFailure.ts'
import type { FailureKind } from './failureKind.ts'
import { hintTexts } from '../transport/hints.ts'

// The kinds without a hint are those that only the caller can fix.
const kinds = [...Object.keys(hintTexts), 'aborted', 'unknown'] as FailureKind[]

test('visitors read a sentence of their own for each kind, and no technical term', () => {
  const texts = kinds.map((kind) => describeFailure({ kind }))
  expect(texts).toHaveLength(21)
  for (const text of texts) {
    expect(text).toMatch(/^[A-Z][^.]*\.( [A-Z][^.]*\.)?$/)
    expect(text).not.toMatch(/key|HTTP|RPC|URL|node|endpoint|chain|quota|throttl/i)
  }
  // Too large a batch and too wide a range are the same to visitors.
  expect(new Set(texts).size).toBe(20)
})

test('visitors do not read "HTTP request failed." when an app is on the wrong chain', () => {
  expect(describeFailure({ kind: 'wrongNetwork' })).toBe(
    'This app is connected to the wrong network. Please report it.',
  )
})

test('visitors do not read of an invalid request when the URL of an app names no network', () => {
  expect(describeFailure({ kind: 'invalidRequest' })).toContain('This app is not set up correctly')
})

test('an error without a failure, and a kind of a later version, have a sentence', () => {
  for (const failure of [undefined, { kind: 'newKind' as FailureKind }])
    expect(describeFailure(failure)).toBe('Something went wrong. Try again.')
})
