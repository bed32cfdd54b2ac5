import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createQueue } from './queue.ts'
import type { QueueEntry } from './queue.ts'

test('a queue keeps the order of its entries when any of them leaves', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20), { nil: undefined })), (steps) => {
      const queue = createQueue<QueueEntry & { readonly id: number }>()
      const model: (QueueEntry & { readonly id: number })[] = []
      steps.forEach((leaves, id) => {
        const place = leaves === undefined ? undefined : model[leaves]
        if (place) {
          queue.leave(place)
          model.splice(model.indexOf(place), 1)
        } else {
          const entering = { id }
          queue.enter(entering)
          model.push(entering)
        }
        expect(queue.first()).toBe(model[0])
        expect(queue.all()).toEqual(model)
      })
    }),
  )
})
