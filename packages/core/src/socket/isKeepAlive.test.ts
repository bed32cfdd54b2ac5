import { expect, test } from 'vitest'
import { ACCEPTED_GROWTH, costGrowth } from '../../test/costGrowth.ts'
import { isKeepAlive } from './isKeepAlive.ts'

test.each([
  ['', true],
  [' \n', true],
  ['ping', true],
  [' keep-alive\n', true],
  ['{', false],
  ['ping pong', false],
])('%j keeps a connection alive: %s', (text, expected) => {
  expect(isKeepAlive(text)).toBe(expected)
})

test.each([' ', 'a', '-', ' a'])('takes time linear in a message of many %j that is not JSON', (part) => {
  const growth = costGrowth(100_000 / part.length, (size) => {
    const text = `${part.repeat(size)}{`
    return () => isKeepAlive(text)
  })
  expect(growth).toBeLessThan(ACCEPTED_GROWTH)
})
