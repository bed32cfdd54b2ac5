import { expect, test } from 'vitest'
import type { MethodRow } from '../packages/core/src/schema/methodRow.ts'
import { methods } from '../packages/vectors/src/index.ts'
import { methodTable } from '../scripts/methodSlices.ts'

const getRow = (method: string): MethodRow => ({ ...methodTable[method.replace(/_.*/, '_*')], ...methodTable[method] })

test.each(methods.filter(({ appliesTo }) => appliesTo.includes('ts')))(
  '$name',
  ({ method, column, expect: value, why }) => {
    expect(getRow(method)[column as keyof MethodRow], why).toEqual(value)
  },
)

test('each case is named once, and has an origin and a reason', () => {
  expect(methods.length).toBeGreaterThan(60)
  expect(new Set(methods.map(({ name }) => name)).size).toBe(methods.length)
  for (const { method, differed, why, origin } of methods) {
    expect(methodTable[method], method).toBeDefined()
    expect(origin).toMatch(/\S \S|^https:|^EIP-\d+$/)
    for (const sentence of [differed, why]) expect(sentence).toMatch(/^\S.{10,}[.]$/)
  }
})
