import { expect, test } from 'vitest'
import * as everything from './everything.ts'
import * as index from './index.ts'
import * as internal from './internal.ts'

test('has each export of the index and of internal, which the build takes from it', () => {
  expect({ ...everything }).toMatchObject({ ...index, ...internal })
})
