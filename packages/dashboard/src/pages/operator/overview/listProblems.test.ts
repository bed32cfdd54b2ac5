import type { OverviewView, ProblemView } from '@keyrail/gateway'
import { expect, test } from 'vitest'
import { listProblems } from './listProblems.ts'

const fine: OverviewView['instance'] = {
  name: 'host',
  version: '1.2.3',
  perSecond: { from: '2026-11-21T11:59:59Z', totals: [1], failures: [0] },
  perMinute: { from: '2026-11-21T11:50:00Z', totals: [1, 1, 100, 100, 100, 100, 100], failures: [1, 1, 1, 1, 1, 1, 1] },
  failures: [],
  events: [],
  config: { appliedAt: '2026-11-21T11:50:00Z', rejectedAt: null, faults: 0, needsRestart: [] },
  stores: [],
  load: {
    connections: 0,
    maxConnections: 100,
    requests: 0,
    queuedCalls: 0,
    bufferedBytes: 0,
    maxBufferedBytes: 100,
    unwrittenRows: 2,
    unwrittenMs: 400,
    rollUpLagMs: 0,
    databaseWaiting: null,
    redisPending: null,
  },
  lost: { calls: 0, requests: 5, logLines: 0 },
  disks: [{ of: 'database', freeBytes: 50, totalBytes: 100 }],
  certificateEndsAt: '2026-12-21T12:00:00Z',
}
const nothing = { share: null, expiresAt: null }

const list = (instance: Partial<OverviewView['instance']>, problems: readonly ProblemView[] = []) =>
  listProblems({ problems, instance: { ...fine, ...instance } } as unknown as OverviewView, (network) => network).map(
    ({ text }) => text,
  )

test('lists nothing while all is fine', () => {
  expect(list({})).toEqual([])
})

test('lists each problem, the worst first', () => {
  const texts = list(
    {
      perMinute: { from: fine.perMinute.from, totals: [10, 10], failures: [0, 2] },
      config: { ...fine.config, rejectedAt: '2026-11-21T11:55:00Z', faults: 2, needsRestart: ['listen', 'tls'] },
      disks: [{ of: 'chainStore', freeBytes: 3_000_000, totalBytes: 100_000_000 }],
      load: { ...fine.load, unwrittenMs: 61_000, unwrittenRows: 7, rollUpLagMs: 3_600_000 },
      lost: { calls: 9, requests: 0, logLines: 4 },
    },
    [
      { ...nothing, kind: 'store', subject: 'redis' },
      { ...nothing, kind: 'network', subject: 'mainnet' },
      { ...nothing, kind: 'disk', subject: 'chainStore', share: 0.03 },
      { ...nothing, kind: 'certificate', subject: 'service', expiresAt: '2026-11-30T12:00:00Z' },
    ],
  )
  expect(texts).toEqual([
    'Redis is unavailable.',
    'mainnet has no healthy node.',
    'The disk of the chain store has 3% left: 3 MB.',
    expect.stringMatching(/^The certificate ends /),
    expect.stringMatching(
      /^The changed config was rejected .*, so the one before is in use\. The log has the 2 faults\.$/,
    ),
    '10% of the calls of the last 5 minutes failed or were rejected.',
    'Changed options that need a restart: listen, tls.',
    'Counts of calls are written late: 7 rows wait for the database.',
    'Usage is rolled up late.',
    'The counts of 9 calls were lost while the database was unavailable.',
    '4 log lines were dropped, because their reader is slow.',
  ])
})

test('calls that fail because of nodes are named once, with the nodes', () => {
  const perMinute = { from: fine.perMinute.from, totals: [100], failures: [60] }
  expect(list({ perMinute }, [{ ...nothing, kind: 'errors', subject: 'service', share: 0.5 }])).toEqual([
    '50% of the calls of the last 5 minutes failed because of nodes.',
  ])
})
