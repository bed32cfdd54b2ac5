import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { fuzzTargets } from '@keyrail/gateway/test/fuzz/targets.ts'

// npm run measure -- fuzz --minutes 60 --only body --seed 7: sends random input to each parser in turn. Exits with 1 at the first failure, and prints its input.

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, only: { type: 'string' }, seed: { type: 'string' } },
})
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new TypeError('--minutes must be a number above 0')
const targets = Object.entries(fuzzTargets).filter(([name]) => values.only === undefined || values.only === name)
if (targets.length === 0) throw new TypeError(`--only must be one of ${Object.keys(fuzzTargets).join(', ')}`)

const firstSeed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed)
const casesAtOnce = 2_000
const end = performance.now() + minutes * 60_000
let cases = 0
let round = 0
do {
  for (const [name, target] of targets) {
    const details = fc.check(target, { numRuns: casesAtOnce, seed: (firstSeed + round) | 0 })
    cases += details.numRuns
    if (!details.failed) continue
    process.stdout.write(
      `${name} failed with --only ${name} --seed ${firstSeed + round}\n${fc.defaultReportMessage(details) ?? ''}\n`,
    )
    process.exit(1)
  }
  round += 1
} while (performance.now() < end)
process.stdout.write(
  `${cases} inputs to ${targets.map(([name]) => name).join(', ')}: no failure (seeds ${firstSeed} to ${firstSeed + round - 1})\n`,
)
