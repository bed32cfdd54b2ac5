import { openPreviousBuild } from '@keyrail/gateway/test/service/previousBuild.ts'
import { afterAll, expect, test } from 'vitest'
import { findMissing, openServers } from '../scale/openServers.ts'
import { isMet } from '../scale/scenario.ts'
import { runServiceSoak } from './runServiceSoak.ts'

const missing = process.env['KEYRAIL_TEST_ALL'] === '1' ? undefined : findMissing()
if (missing !== undefined) process.stdout.write(`The short form of npm run soak:service is skipped. ${missing}\n`)

const servers = openServers()
afterAll(servers.stop)
const previous = missing === undefined ? openPreviousBuild() : undefined
afterAll(() => previous?.remove())

// `npm run soak:service` runs for half an hour, from a random seed.
test.skipIf(missing !== undefined)(
  'during every fault, limits and metering are as documented and each failed call has a documented reason',
  { timeout: 900_000 },
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
