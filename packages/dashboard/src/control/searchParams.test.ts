import { describe, expect, test } from 'vitest'
import { readMetricsSearch, readRequestsSearch, readSearch } from './searchParams.ts'

describe('the search of a metrics page', () => {
  test.each([
    [{ range: 'week' }, { range: 'week' }],
    [{ range: 'year' }, {}],
    [
      { from: '2026-11-23T10:00:00Z', to: '2026-11-23T11:00:00Z', range: 'week' },
      { from: '2026-11-23T10:00:00.000Z', to: '2026-11-23T11:00:00.000Z' },
    ],
    [{ from: '2026-11-23T10:00:00Z', range: 'week' }, { range: 'week' }],
    [{ from: 'then', to: 'now' }, {}],
    [
      { range: 'day', compare: true },
      { range: 'day', compare: true },
    ],
    [{ compare: 'yes' }, {}],
    [
      { method: 'eth_call', outcome: '', network: 100, other: 'x' },
      { method: 'eth_call', network: '100' },
    ],
  ])('%o is %o', (search, expected) => {
    expect(readMetricsSearch(search)).toEqual(expected)
  })
})

test('a search text that looks like a number is a text', () => {
  expect(readSearch({ search: 7 })).toEqual({ search: '7' })
  expect(readSearch({ search: '' })).toEqual({})
})

test('the search of a request log has its filters and the open request', () => {
  const request = 'log_0123456789abcdefghij'
  expect(readRequestsSearch({ outcome: 'failed', key: 1234, request, page: 2 })).toEqual({
    outcome: 'failed',
    key: '1234',
    request,
  })
  for (const other of ['', 'log_1', 7, `${request}/../x`]) expect(readRequestsSearch({ request: other })).toEqual({})
})
