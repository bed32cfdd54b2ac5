import { afterAll, describe, expect, test } from 'vitest'
import { runCost } from './cost.ts'
import { dense, runExact } from './exact.ts'
import { runKilled } from './lost.ts'
import { openServers } from './openServers.ts'
import { runRevocation } from './revocation.ts'
import { isMet } from './scenario.ts'
import type { Bar, Outcome } from './scenario.ts'
import { needs } from '../../../../scripts/externalPrograms.ts'

const servers = openServers()
afterAll(servers.stop)

const getMissed = ({ bars }: Outcome): readonly Bar[] => bars.filter((bar) => !isMet(bar))

describe('three instances on PostgreSQL and Redis', needs('redis-server'), () => {
  test('grant exactly the limit', async () => {
    const load = { ...dense, perDay: 1_000, requests: 8_000 }
    expect(getMissed(await runExact({ servers, load }))).toEqual([])
  })

  test('grant no more if one of them is killed, and lose no more than it had in flight', async () => {
    expect(getMissed(await runKilled(servers, { perDay: 4_000 }))).toEqual([])
  })

  test('write the calls of many users together', async () => {
    expect(getMissed(await runCost(servers, { users: 100, seconds: 5 }))).toEqual([])
  })

  test('act on a revoked key and on a changed limit within a second', async () => {
    expect(getMissed(await runRevocation(servers, 5))).toEqual([])
  })
})
