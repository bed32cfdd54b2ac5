import { expect, test } from 'vitest'
import { isLocalOrigin } from './isLocalOrigin.ts'

test.each([
  ['http://localhost:5173', true],
  ['http://app.localhost', true],
  ['http://127.0.0.1:3000', true],
  ['http://[::1]:8080', true],
  ['https://localhost.example', false],
  ['https://app.example.com', false],
  ['null', false],
])('%s: %s', (origin, isLocal) => {
  expect(isLocalOrigin(origin)).toBe(isLocal)
})
