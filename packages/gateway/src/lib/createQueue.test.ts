import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createQueue } from './createQueue.ts'

test('after any sequence of pushes and removals, the first item is the oldest', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constant('push'), fc.nat(400)), { maxLength: 1_000 }), (steps) => {
      const queue = createQueue<{ name: number }>()
      const queued = new Map<number, { name: number }>()
      const tickets: number[] = []
      for (const step of steps) {
        if (typeof step === 'string') {
          const item = { name: tickets.length }
          const ticket = queue.push(item)
          expect(queued.has(ticket)).toBe(false)
          tickets.push(ticket)
          queued.set(ticket, item)
        } else {
          const ticket = tickets[step % Math.max(1, tickets.length)] ?? 0
          expect(queue.remove(ticket)).toBe(queued.delete(ticket))
        }
        expect([queue.size(), queue.first()]).toEqual([queued.size, queued.values().next().value])
      }
    }),
  )
})

test('a long queue that empties from the front stays in order', () => {
  const queue = createQueue<{ name: number }>()
  const tickets = Array.from({ length: 10_000 }, (_, name) => queue.push({ name }))
  for (const [name, ticket] of tickets.entries()) {
    expect(queue.first()).toEqual({ name })
    queue.remove(ticket)
  }
  expect([queue.size(), queue.first()]).toEqual([0, undefined])
})
