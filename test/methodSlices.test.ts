import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as coreSlice from '../packages/core/src/schema/methodSlice.ts'
import * as fetchSlice from '../packages/fetch/src/client/methodSlice.ts'
import gatewaySlice from '../packages/gateway/src/lib/methods.json' with { type: 'json' }
import {
  buildCoreSlice,
  buildFetchSlice,
  buildGatewaySlice,
  buildPythonSlice,
  methodTable,
} from '../scripts/methodSlices.ts'

const readJson = (path: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../packages', path), 'utf8'))

test.each([
  ['core', coreSlice, buildCoreSlice()],
  ['the fetch adapter', fetchSlice, buildFetchSlice()],
  ['the gateway', gatewaySlice, buildGatewaySlice()],
  ['the Python package', readJson('python/src/keyrail/methods.json'), buildPythonSlice()],
])('the slice of %s is up to date (if not, run `npm run methods`)', (_, slice, built) => {
  expect({ ...(slice as object) }).toEqual(built)
})

test('the rows are in order, and each name is that of a method or a namespace', () => {
  const names = Object.keys(methodTable)
  expect(names).toEqual(names.toSorted())
  for (const name of names) expect(name).toMatch(/^[a-z0-9]+_(?:[A-Za-z0-9]+(?:_v\d)?|\*)$/)
})

test.each(Object.entries(methodTable))('the columns of %s fit together', (_, row) => {
  const places = [row.block, row.blockHash, row.transaction, row.range].filter((place) => place !== undefined)
  expect(places.length, 'a method names its block in one way').toBeLessThanOrEqual(1)
  if (row.final === 'block') expect(places, 'the block that becomes final').toHaveLength(1)
  if (row.final !== undefined) expect(row.access, 'only a read has a final result').toBe('read')
  if (row.cached !== undefined) expect(row.final, 'only a final result is cached').toBeDefined()
  if (row.state || row.index) expect(row.block ?? row.blockHash, 'the block of the state or the index').toBeDefined()
  if (row.optionalBlock) expect(row.block, 'the block that may be left out').toBeDefined()
  if (row.lookUp !== undefined) expect(row.access, 'only a transaction is looked up').toBe('write')
})
