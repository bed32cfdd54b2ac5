import { describe, expect, test } from 'vitest'
import { checkAllowListEntries } from './allowListEntries.ts'

describe('checkAllowListEntries', () => {
  test('returns every invalid entry, not only the first', () => {
    const problems = checkAllowListEntries({
      origins: [{ value: 'https://a.example', label: 'the app' }, { value: 'https://a.example/' }],
      ips: [{ value: 'x' }, { value: '10.0.0.1/8' }, {}],
      unknown: [],
    })
    expect(problems.map(({ field }) => field)).toEqual([
      'origins[1].value',
      'ips[0].value',
      'ips[1].value',
      'ips[2].value',
      '',
    ])
  })

  test('a valid list has no problems', () => {
    expect(
      checkAllowListEntries({
        origins: [{ value: '*.example.com' }],
        ips: [{ value: '::1', label: '' }],
        methods: [{ value: 'eth_*' }],
        addresses: undefined,
      }),
    ).toEqual([])
  })

  test('a hole in a list is an invalid entry', () => {
    // oxlint-disable-next-line no-sparse-arrays -- the case under test
    expect(checkAllowListEntries({ ips: [, { value: '10.0.0.1' }] }).map(({ field }) => field)).toEqual([
      'ips[0].value',
    ])
  })
})
