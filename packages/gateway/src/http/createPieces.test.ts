import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPieces } from './createPieces.ts'
import type { Pieces } from './createPieces.ts'

const keep = (given: readonly Buffer[]): Pieces => {
  const [first = Buffer.alloc(0), ...others] = given
  const pieces = createPieces(first)
  for (const piece of others) pieces.add(piece)
  return pieces
}

test('whatever pieces a body comes in, it is what it was', () => {
  const size = fc.oneof(fc.nat(20), fc.constantFrom(1_023, 1_024, 1_025, 4_095, 4_096, 4_097, 20_000))
  fc.assert(
    fc.property(fc.array(size, { maxLength: 40 }), (sizes) => {
      const given = sizes.map((length, index) => Buffer.alloc(length, index + 1))
      expect(keep(given).join().equals(Buffer.concat(given))).toBe(true)
    }),
  )
})

test('a body in crumbs takes no more memory than a whole one', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = (): number => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = held()
  const pieces = createPieces(Buffer.from('['))
  for (let crumb = 0; crumb < 300_000; crumb += 1) pieces.add(Buffer.from('1'))
  expect(held() - before).toBeLessThan(5_000_000)
  expect(pieces.join()).toHaveLength(300_001)
})
