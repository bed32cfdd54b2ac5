import { expect, test } from 'vitest'
import { visible } from './visible.ts'

test('what a terminal would act on, or show in another order, is left out', () => {
  expect(visible('a\u001B[2Jb\r\nc\u202Ed\u0007')).toBe('a[2Jbcd')
  expect(visible('Kassa nº 1, öffentlich … 店')).toBe('Kassa nº 1, öffentlich … 店')
})
