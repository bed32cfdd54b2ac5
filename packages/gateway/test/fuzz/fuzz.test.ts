import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../fuzzCases.ts'
import { fuzzTargets } from './targets.ts'

describe('npm run measure -- fuzz', () => {
  test.each(Object.entries(fuzzTargets))('%s holds for some hundred inputs', (_name, target) => {
    expect(() => fc.assert(target, { numRuns: fuzzCases(300) })).not.toThrow()
  })
})
