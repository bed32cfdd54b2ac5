import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

/** Loading fast-check takes 0.1 s, in each process. */
const usesProperties = /from 'fast-check'/

// Properties check the same inputs in each run, so what makes one fail is the change that it fails with. KEYRAIL_TEST_SEED=random takes new
// inputs, and a number those that a failure printed.
const { testPath } = expect.getState()
if (testPath && usesProperties.test(readFileSync(testPath, 'utf8'))) {
  const { default: fc } = await import('fast-check')
  const { KEYRAIL_TEST_SEED: seed = '1' } = process.env
  fc.configureGlobal(seed === 'random' ? {} : { seed: Number(seed) })
}
