import { expect, test } from 'vitest'
import { upstreamStatuses } from '../../proxy/upstream/groupMember.ts'
import type { UpstreamStatus } from '../../proxy/upstream/groupMember.ts'
import { toNetworkStatuses } from './toNetworkStatuses.ts'

test.each<[state: string, statuses: readonly UpstreamStatus[]]>([
  ['healthy', ['healthy', 'throttled', 'overBudget']],
  ['lagging', ['syncing', 'lagging']],
  ['down', ['unreachable', 'wrongChain', 'failing']],
])('counts as %s: %s', (state, statuses) => {
  const none = { healthy: 0, lagging: 0, down: 0 }
  const upstreams = statuses.map((status) => ({ network: 'base', status }))
  expect(toNetworkStatuses(['base'], upstreams, new Set())).toEqual([
    { network: 'base', nodes: { ...none, [state]: statuses.length }, isOfAccount: false },
  ])
})

test('counts each node once, for its own network, and says which networks the account has', () => {
  const upstreams = upstreamStatuses.flatMap((status) => [
    { network: 'base', status },
    { network: 'removed', status },
  ])
  expect(toNetworkStatuses(['new', 'base'], upstreams, new Set(['base', 'removed']))).toEqual([
    { network: 'new', nodes: { healthy: 0, lagging: 0, down: 0 }, isOfAccount: false },
    { network: 'base', nodes: { healthy: 3, lagging: 2, down: 3 }, isOfAccount: true },
  ])
})
