import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLane } from './lane.ts'
import type { Place } from './lane.ts'

test('a lane keeps the order in which places came, whoever leaves', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20), { nil: undefined })), (steps) => {
      const lane = createLane<Place & { readonly id: number }>()
      const model: (Place & { readonly id: number })[] = []
      steps.forEach((leaves, id) => {
        const place = leaves === undefined ? undefined : model[leaves]
        if (place) {
          lane.leave(place)
          model.splice(model.indexOf(place), 1)
        } else {
          const entering = { id }
          lane.enter(entering)
          model.push(entering)
        }
        expect(lane.first()).toBe(model[0])
        expect(lane.all()).toEqual(model)
      })
    }),
  )
})
