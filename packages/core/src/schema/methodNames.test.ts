import { describe, expect, test } from 'vitest'
import { methodNames } from './methodNames.ts'

describe('methodNames', () => {
  test('names each method once, in order', () => {
    expect([...methodNames]).toEqual([...new Set(methodNames)].toSorted())
  })

  test('names methods of the namespaces that nodes serve over HTTP', () => {
    expect([...new Set(methodNames.map((name) => name.split('_')[0]))]).toEqual([
      'debug',
      'eth',
      'net',
      'testing',
      'trace',
      'txpool',
      'web3',
    ])
  })
})
