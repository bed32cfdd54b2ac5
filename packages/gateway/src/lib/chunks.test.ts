import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { addChunk, joinChunks, listChunks } from './chunks.ts'
import type { Chunks } from './chunks.ts'

const addAll = (given: readonly Buffer[]): Chunks | undefined => {
  let chunks: Chunks | undefined
  for (const chunk of given) chunks = addChunk(chunks, chunk)
  return chunks
}

test('joining the chunks gives the body, for any chunk sizes', () => {
  const size = fc.oneof(fc.nat(20), fc.constantFrom(1_023, 1_024, 1_025, 4_095, 4_096, 4_097, 20_000))
  fc.assert(
    fc.property(fc.array(size, { maxLength: 40 }), (sizes) => {
      const given = sizes.map((length, index) => Buffer.alloc(length, index + 1))
      expect(joinChunks(addAll(given)).equals(Buffer.concat(given))).toBe(true)
      expect(Buffer.concat(listChunks(addAll(given))).equals(Buffer.concat(given))).toBe(true)
    }),
  )
})

test('tiny chunks are joined into a few large ones, because each chunk costs extra memory', () => {
  const chunks = addAll([Buffer.from('['), ...Array.from({ length: 300_000 }, () => Buffer.from('1'))])
  const concat = vi.spyOn(Buffer, 'concat')
  expect(joinChunks(chunks)).toHaveLength(300_001)
  // 4 KiB in each chunk, and the first chunk.
  expect(concat.mock.calls[0]?.[0]).toHaveLength(1 + Math.ceil(300_000 / 4_096))
  concat.mockRestore()
})
