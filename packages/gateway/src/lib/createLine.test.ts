import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLine } from './createLine.ts'

test('whoever joins and leaves, the first is the one who has been there longest', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constant('join'), fc.nat(400)), { maxLength: 1_000 }), (steps) => {
      const line = createLine<{ name: number }>()
      const there = new Map<number, { name: number }>()
      const numbers: number[] = []
      for (const step of steps) {
        if (typeof step === 'string') {
          const item = { name: numbers.length }
          const number = line.join(item)
          expect(there.has(number)).toBe(false)
          numbers.push(number)
          there.set(number, item)
        } else {
          const number = numbers[step % Math.max(1, numbers.length)] ?? 0
          expect(line.leave(number)).toBe(there.delete(number))
        }
        expect([line.size(), line.first()]).toEqual([there.size, there.values().next().value])
      }
    }),
  )
})

test('one that grows long and empties from its beginning stays in order', () => {
  const line = createLine<{ name: number }>()
  const numbers = Array.from({ length: 10_000 }, (_, name) => line.join({ name }))
  for (const [name, number] of numbers.entries()) {
    expect(line.first()).toEqual({ name })
    line.leave(number)
  }
  expect([line.size(), line.first()]).toEqual([0, undefined])
})
