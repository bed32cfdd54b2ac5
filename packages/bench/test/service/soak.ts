import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openPreviousBuild } from '@keyrail/gateway/test/service/previousBuild.ts'
import { getProgram } from '../../../../scripts/externalPrograms.ts'
import { openServers } from '../scale/openServers.ts'
import { formatOutcome, isMet } from '../scale/scenario.ts'
import { formatSoak } from './formatSoak.ts'
import { runServiceSoak } from './runServiceSoak.ts'

// Three processes of `keyrail serve` under load, while processes, Redis, PostgreSQL and nodes fail, configs are reloaded and the previous build takes
// over. Options: `--minutes N`, `--seed N`. A good run of 30 minutes or more is written into SOAK.md. Exits with 1 if a limit, metering, a response, memory or descriptors are not as documented.
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
if (!(minutes > 0 && minutes <= 1_000)) throw new Error('--minutes must be a number from 0 to 1000')
if (!Number.isInteger(seed)) throw new Error('--seed must be an integer')

const print = (text: string): void => void process.stdout.write(`${text}\n`)
// Fails now rather than in the first scenario.
getProgram('redis-server')
const servers = openServers()
const previous = openPreviousBuild()
if (previous === undefined) print('The previous build does not take part: git fetch --unshallow')
const stop = async (): Promise<void> => {
  await servers.stop()
  previous?.remove()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stop().then(() => process.exit(130)))

let isGood = false
try {
  print(`${minutes} minutes, seed ${seed}`)
  const { problems, outcomes, ...outcome } = await runServiceSoak({
    servers,
    minutes,
    seed,
    previous: previous?.program,
    callsPerFault: 300,
    checksFigures: minutes >= 10,
    onProgress: (text) => print(`  ${text}`),
  })
  for (const [name, count] of [...outcomes].toSorted(([, a], [, b]) => b - a))
    print(`  ${String(count).padStart(8)}  ${name}`)
  print(formatOutcome(outcome))
  for (const problem of problems.slice(0, 20)) print(`  WRONG ${problem}`)
  isGood = problems.length === 0 && outcome.bars.every(isMet)
  if (isGood && minutes >= 30) {
    const date = new Date().toISOString().slice(0, 10)
    const run = { ...outcome, outcomes, minutes, seed, date, nodeVersion: process.versions.node }
    writeFileSync(join(import.meta.dirname, '../../SOAK.md'), formatSoak(run))
  }
  print(isGood ? 'Limits, metering, memory and descriptors are as documented.' : `WRONG: ${problems.length} problems`)
} finally {
  await stop()
}
process.exit(isGood ? 0 : 1)
