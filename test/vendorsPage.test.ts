import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { vendors } from '../packages/gateway/src/lib/vendors.ts'

const rows = readFileSync(join(import.meta.dirname, '../docs/service/vendors.md'), 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))

test.each(Object.entries(vendors))('the page has the row of %s', (name, { url, networks, weights, logBlocks }) => {
  const [, , shownUrl, count, units, range] = rows.find(([, first]) => first === `\`${name}\``) ?? []
  expect(shownUrl).toBe(`\`${url}\``)
  expect(count).toBe(networks === undefined ? 'every one, by chain id' : String(Object.keys(networks).length))
  expect(units?.startsWith('[')).toBe(weights !== undefined)
  expect(range !== 'learned').toBe(logBlocks !== undefined)
})
