import { expect, test } from 'vitest'
import { z } from 'zod'
import { timeText } from '../contract/texts.ts'
import { createView } from './createView.ts'

const toView = createView(
  z.strictObject({ id: z.string(), size: z.int(), at: timeText.describe('When.'), until: timeText.nullable() }),
)

test('has the members of the schema only, and writes its times', () => {
  const record = { id: 'a', size: 7, at: 0, until: null, secret: 'x' }
  expect(toView(record)).toEqual({ id: 'a', size: 7, at: '1970-01-01T00:00:00.000Z', until: null })
  expect(toView({ until: 1 })).toEqual({ until: '1970-01-01T00:00:00.001Z' })
})
