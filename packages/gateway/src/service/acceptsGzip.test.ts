import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import { describe, expect, test } from 'vitest'
import { acceptsGzip } from './acceptsGzip.ts'

describe('acceptsGzip', () => {
  test.each<[string | undefined, boolean]>([
    [undefined, false],
    ['', false],
    ['gzip', true],
    ['br, GZIP;q=0.5', true],
    ['br,  *', true],
    ['gzip ; q=0.001', true],
    ['gzip;q=0', false],
    ['gzip ; q=0.000 , br', false],
    ['*;q=0.', false],
    ['br, deflate', false],
  ])('%j: %j', (header, wanted) => {
    expect(acceptsGzip(header)).toBe(wanted)
  })

  test.each([
    ['spaces before q', `gzip${' '.repeat(16_384)};q=0`],
    ['spaces after q', `gzip;q=0${' '.repeat(16_384)}`],
    ['spaces before the end', `gzip;${' '.repeat(16_384)}`],
    ['commas', ', '.repeat(8_192)],
    ['many of its own', 'gzip ;q=0,'.repeat(1_638)],
    ['zeros', `gzip;q=0.${'0'.repeat(16_384)}1`],
  ])('a header of 16 kB is read at once: %s', (_name, header) => {
    const read = (): void => {
      for (let run = 0; run < 100; run += 1) acceptsGzip(header)
    }
    expect(cpuMs(read)).toBeLessThan(500)
  })
})
