import { expect, test } from 'vitest'
import * as everything from './everything.ts'
import * as index from './index.ts'
import * as internal from './internal.ts'

// Otherwise the build succeeds, and importing it fails.
test('has every value that the two entry points export', () => {
  expect(Object.keys(everything)).toEqual(expect.arrayContaining([...Object.keys(index), ...Object.keys(internal)]))
})
