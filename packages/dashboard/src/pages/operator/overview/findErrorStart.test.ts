import { expect, test } from 'vitest'
import { findErrorStart } from './findErrorStart.ts'

const from = '2026-11-21T12:00:00.000Z'
const series = (failures: readonly number[]) => ({ from, totals: failures.map(() => 100), failures })
const quiet = [0, 0, 0, 0, 0, 0]

test('finds the first minute of the last errors, across a short pause', () => {
  expect(findErrorStart(series([0, 0, 40, 0, 0, 60, 0]))).toEqual({
    at: '2026-11-21T12:02:00.000Z',
    isCutOff: false,
    isOver: false,
    failed: 100,
    total: 400,
  })
})

test('errors long before are another period', () => {
  expect(findErrorStart(series([50, ...quiet, 30, 30]))).toMatchObject({ at: '2026-11-21T12:07:00.000Z', failed: 60 })
})

test('says if they are over, and if they may have started earlier', () => {
  expect(findErrorStart(series([50, ...quiet]))).toMatchObject({ at: from, isCutOff: true, isOver: true })
})

test('a few failed calls are no errors', () => {
  expect(findErrorStart(series([4, 4, 4]))).toBeUndefined()
  expect(findErrorStart({ from, totals: [2, 2], failures: [2, 2] })).toBeUndefined()
  expect(findErrorStart({ from, totals: [], failures: [] })).toBeUndefined()
})
