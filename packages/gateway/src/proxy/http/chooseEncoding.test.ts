import { describe, expect, test } from 'vitest'
import { chooseEncoding } from './chooseEncoding.ts'

describe('chooseEncoding', () => {
  test.each<[header: string | undefined, encoding: 'br' | 'gzip' | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['deflate, zstd', undefined],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['BR', 'br'],
    ['  gzip  ,, ', 'gzip'],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0, br;q=0, *', undefined],
    ['gzip;q=0', undefined],
    ['gzip;q=0.000', undefined],
    ['gzip;q=0.001', 'gzip'],
    ['gzip ; q=0.5', 'gzip'],
    ['gzip;Q=1', 'gzip'],
    ['gzip, br;q=0.9', 'gzip'],
    ['gzip;q=0.8, br;q=0.9', 'br'],
    ['gzip;q=0.5, br;q=0.5', 'br'],
    ['gzip, identity', 'gzip'],
    ['gzip;q=0.5, identity', undefined],
    ['gzip;q=0.5, identity;q=0.1', 'gzip'],
    ['identity;q=0', undefined],
    ['identity;q=0, gzip', 'gzip'],
    ['identity;q=0, *', 'br'],
    ['identity, *;q=0.5', undefined],
    ['gzip;q=0.5, *;q=0', 'gzip'],
    ['gzip;q=2', 'gzip'],
    ['gzip;q=-1', undefined],
    ['gzip;q=high', undefined],
    ['gzip;level=1', 'gzip'],
    ['br;q=x, gzip', 'gzip'],
    ['xgzip', undefined],
    ['gzipx', undefined],
    ['__proto__', undefined],
  ])('%j: %s', (header, encoding) => {
    expect(chooseEncoding(header)).toBe(encoding)
  })

  test('a header of more than 256 characters is not read', () => {
    expect(chooseEncoding(`gzip${' '.repeat(252)}`)).toBe('gzip')
    expect(chooseEncoding(`gzip${' '.repeat(253)}`)).toBeUndefined()
  })
})
