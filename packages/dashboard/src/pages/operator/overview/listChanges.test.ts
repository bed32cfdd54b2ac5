import type { OverviewView } from '@keyrail/gateway'
import { expect, test } from 'vitest'
import { listChanges } from './listChanges.ts'

const start = Date.parse('2026-11-21T12:00:00.000Z')
const at = (minutes: number, seconds = 0): string => new Date(start + minutes * 60_000 + seconds * 1_000).toISOString()

const audit = (id: number, minutes: number, action = 'app.edit') => ({
  id,
  at: at(minutes),
  userId: 'usr_1',
  userEmail: 'ann@example.org',
  actor: 'usr_1',
  actorName: 'ann@example.org',
  action,
  subject: 'app_1',
  subjectName: 'Portfolio',
  ip: null,
  detail: null,
})

const overview = ({
  changes = [],
  events = [],
  failures = [],
}: {
  changes?: OverviewView['changes']
  events?: OverviewView['instance']['events']
  failures?: readonly number[]
}): OverviewView =>
  ({
    startedAt: at(0),
    changes,
    instance: { version: '1.2.3', events, perMinute: { from: at(0), totals: failures.map(() => 100), failures } },
  }) as unknown as OverviewView

const titles = (given: OverviewView): readonly string[] =>
  listChanges(given, (network) => `The ${network}`).map(({ title }) => title)

test('what changed in the minute of the first errors, or before, is below them', () => {
  const events: OverviewView['instance']['events'] = [
    { at: at(4), kind: 'upstream', network: 'mainnet', name: 'infura', state: 'wrongChain', reason: 'chain id 5' },
    { at: at(3, 50), kind: 'config', network: null, name: null, state: 'applied', reason: null },
    { at: at(1), kind: 'store', network: null, name: 'redis', state: 'unavailable', reason: 'timeout' },
  ]
  expect(titles(overview({ events, changes: [audit(1, 2)], failures: [0, 0, 0, 50, 50] }))).toEqual([
    'Node infura of The mainnet: wrong chain',
    'Errors began',
    'Applied a changed config',
    'Changed an app',
    'Redis: unavailable',
    'This instance started',
  ])
})

test('a node that is healthy again is a change, and one that is healthy from the start is not', () => {
  const event = { kind: 'upstream', network: 'mainnet', reason: null } as const
  const events: OverviewView['instance']['events'] = [
    { ...event, at: at(3), name: 'infura', state: 'healthy' },
    { ...event, at: at(2), name: 'infura', state: 'unreachable' },
    { ...event, at: at(0), name: 'infura', state: 'healthy' },
    { ...event, at: at(0), name: 'alchemy', state: 'healthy' },
  ]
  expect(titles(overview({ events }))).toEqual([
    'Node infura of The mainnet: healthy',
    'Node infura of The mainnet: unreachable',
    'This instance started',
  ])
})

test('shows 12, and some of those before the errors in any case', () => {
  const changes = Array.from({ length: 20 }, (_, index) => audit(20 - index, 40 - index))
  expect(titles(overview({ changes }))).toHaveLength(12)
  const failures = Array.from({ length: 41 }, (_, minute) => (minute >= 25 ? 30 : 0))
  const shown = titles(overview({ changes, failures }))
  // 15 after them, themselves, and 4 before.
  expect(shown).toHaveLength(20)
  expect(shown.indexOf('Errors began')).toBe(15)
})
