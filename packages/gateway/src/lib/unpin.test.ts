import { expect, test } from 'vitest'
import { unpin } from './unpin.ts'

test('a slice that keeps more than twice its size is copied, and others are not', () => {
  const buffer = Buffer.alloc(64 * 1024, 'a')
  for (const length of [1, 1_024, 30_000]) {
    const copy = unpin(buffer.subarray(10, 10 + length))
    expect(copy.buffer.byteLength).toBe(length)
    expect(copy.equals(buffer.subarray(0, length))).toBe(true)
  }
  const half = buffer.subarray(0, 32 * 1024)
  expect(unpin(half)).toBe(half)
  expect(unpin(buffer)).toBe(buffer)
  const small = Buffer.alloc(400).subarray(300)
  expect(unpin(small)).toBe(small)
})
