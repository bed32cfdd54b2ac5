import { openPreviousBuild } from '@keyrail/gateway/test/service/previousBuild.ts'
import { afterAll, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { openServers } from '../scale/openServers.ts'
import { isMet } from '../scale/scenario.ts'
import { runServiceSoak } from './runServiceSoak.ts'

const servers = openServers()
afterAll(servers.stop)
const previous = openPreviousBuild()
afterAll(() => previous?.remove())

// `npm run measure -- soak:service` runs for half an hour, from a random seed.
test(
  'during every fault, limits and metering are as documented and each failed call has a documented reason',
  { ...needs('redis-server'), timeout: 900_000 },
  async () => {
    const { problems, bars, figures } = await runServiceSoak({
      servers,
      minutes: 0,
      seed: 21,
      previous: previous?.program,
      callsPerFault: 40,
      checksFigures: false,
    })
    expect(problems).toEqual([])
    expect(bars.filter((bar) => !isMet(bar))).toEqual([])
    expect(figures).toMatchObject({ faults: 18, kills: 1 })
  },
)
