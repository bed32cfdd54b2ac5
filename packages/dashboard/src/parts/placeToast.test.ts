import { expect, test } from 'vitest'
import { isFree, placeToast } from './placeToast.ts'

const size = { width: 200, height: 40 }
const page = { width: 1000, height: 600 }

test('a message is at the lowest place at the end of the line', () => {
  expect(placeToast(size, page, [])).toEqual({ ...size, left: 784, top: 544 })
  expect(placeToast(size, page, [], { isRtl: true })).toMatchObject({ left: 16, top: 544 })
})

test.each([
  ['a button at the end of the line', [{ left: 900, top: 550, width: 60, height: 30 }], { left: 400, top: 544 }],
  [
    'buttons at the end and in the middle',
    [
      { left: 900, top: 550, width: 60, height: 30 },
      { left: 500, top: 550, width: 60, height: 30 },
    ],
    { left: 16, top: 544 },
  ],
  ['a row as wide as the page', [{ left: 0, top: 560, width: 1000, height: 40 }], { left: 784, top: 512 }],
])('with %s, it goes where nothing is', (_, controls, place) => {
  expect(placeToast(size, page, controls)).toMatchObject(place)
})

test('with controls everywhere, it is at the lowest place', () => {
  const everywhere = [{ left: 0, top: 0, width: 1000, height: 600 }]
  const place = placeToast(size, page, everywhere)
  expect(place).toMatchObject({ left: 784, top: 544 })
  expect(isFree(place, everywhere)).toBe(false)
})
