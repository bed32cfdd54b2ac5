import { describe, expect, test } from 'vitest'
import { toTextFrames } from './textFrames.ts'

const text = (bytes: number): Buffer => Buffer.alloc(bytes, 'x')

describe('WebSocket text frames', () => {
  // The examples of RFC 6455 section 5.7 for 256 bytes and 64 KiB are of binary frames: their headers differ in the first byte.
  test.each([
    [5, '8105'],
    [125, '817d'],
    [126, '817e007e'],
    [256, '817e0100'],
    [65_535, '817effff'],
    [65_536, '817f0000000000010000'],
  ])('of %i bytes have the header %s', (bytes, header) => {
    const frames = toTextFrames('start', [text(bytes - 5)])
    expect(frames.subarray(0, header.length / 2).toString('hex')).toBe(header)
    expect(frames.subarray(header.length / 2).toString()).toBe(`start${'x'.repeat(bytes - 5)}`)
  })

  test('follow each other', () => {
    expect(toTextFrames('a', [Buffer.from('b'), Buffer.from('é')]).toString('hex')).toBe('81026162' + '810361c3a9')
  })
})
