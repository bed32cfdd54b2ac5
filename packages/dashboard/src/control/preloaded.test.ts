import { expect, test } from 'vitest'
import { endPreloads, takePreloads, toReadUrl } from './preloaded.ts'

test('reads have the URL of their preload for some seconds, until it is ended', () => {
  expect(toReadUrl('/api/session', 0)).toBe('/api/session')
  takePreloads(1_000)
  expect(toReadUrl('/api/session', 5_999)).toBe('/api/session?')
  expect(toReadUrl('/api/apps?limit=48', 5_999)).toBe('/api/apps?limit=48&')
  expect(toReadUrl('/api/session', 6_000)).toBe('/api/session')
  endPreloads()
  expect(toReadUrl('/api/session', 1_000)).toBe('/api/session')
})
