import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { createChunks } from './createChunks.ts'
import type { Chunks } from './createChunks.ts'

const keep = (given: readonly Buffer[]): Chunks => {
  const [first = Buffer.alloc(0), ...others] = given
  const pieces = createChunks(first)
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

test('a body in crumbs is kept in a few large pieces, since each piece costs memory of its own', () => {
  const pieces = createChunks(Buffer.from('['))
  for (let crumb = 0; crumb < 300_000; crumb += 1) pieces.add(Buffer.from('1'))
  const concat = vi.spyOn(Buffer, 'concat')
  expect(pieces.join()).toHaveLength(300_001)
  // 4 KiB in each, and the first.
  expect(concat.mock.calls[0]?.[0]).toHaveLength(1 + Math.ceil(300_000 / 4_096))
  concat.mockRestore()
})
