import { expect, test } from 'vitest'
import { createRecentEvents } from './createRecentEvents.ts'

test('remembers changes of the config, of stores and of nodes, the newest first, and nothing else', () => {
  let now = 1_000
  const { observe, list, config } = createRecentEvents(() => now)
  expect(config()).toEqual({ appliedAt: 1_000, rejectedAt: null, faults: 0, needsRestart: [] })
  now += 1
  observe({ event: 'upstream', network: 'mainnet', upstream: 'infura', state: 'unreachable', reason: 'HTTP 401' })
  now += 1
  observe({ event: 'store', store: 'database', state: 'unavailable', code: 'ECONNREFUSED' })
  observe({ event: 'warning', what: 'nothing' })
  now += 1
  observe({ event: 'config', state: 'applied', needsRestart: ['listen'] })
  expect(list()).toEqual([
    { at: 1_003, kind: 'config', network: null, name: null, state: 'applied', reason: null },
    { at: 1_002, kind: 'store', network: null, name: 'database', state: 'unavailable', reason: 'ECONNREFUSED' },
    { at: 1_001, kind: 'upstream', network: 'mainnet', name: 'infura', state: 'unreachable', reason: 'HTTP 401' },
  ])
})

test('a rejected config keeps what needs a restart, and the next one that is applied ends it', () => {
  let now = 1_000
  const { observe, config } = createRecentEvents(() => now)
  observe({ event: 'config', state: 'applied', needsRestart: ['listen', 'tls'] })
  now += 1
  observe({ event: 'config', state: 'rejected', faults: ['limits.apps: must be an object', 'listen: is missing'] })
  expect(config()).toEqual({ appliedAt: 1_000, rejectedAt: 1_001, faults: 2, needsRestart: ['listen', 'tls'] })
  now += 1
  observe({ event: 'config', state: 'applied' })
  expect(config()).toEqual({ appliedAt: 1_002, rejectedAt: null, faults: 0, needsRestart: [] })
})

test('a node that fails and recovers all the time pushes out no change of the config', () => {
  const { observe, list } = createRecentEvents(() => 0)
  observe({ event: 'config', state: 'applied' })
  for (let round = 0; round < 100; round += 1)
    observe({ event: 'upstream', network: 'mainnet', upstream: 'node', state: round % 2 === 0 ? 'failing' : 'healthy' })
  expect(list().filter(({ kind }) => kind === 'config')).toHaveLength(1)
  expect(list()).toHaveLength(21)
})
