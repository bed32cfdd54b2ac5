import { parseArgs } from 'node:util'
import { costScenario } from './cost.ts'
import { exactScenarios } from './exact.ts'
import { idleScenario } from './idle.ts'
import { lostScenarios } from './lost.ts'
import { openServers } from './openServers.ts'
import { memoryScenario } from './memory.ts'
import { revocationScenario } from './revocation.ts'
import { formatOutcome, formatTable, isMet } from './scenario.ts'
import type { Outcome, Scenario } from './scenario.ts'
import { getProgram } from '../../../../scripts/externalPrograms.ts'

// Three instances on a real PostgreSQL and a real Redis, under load, and what happens to them. Exits with 1 if a bar is missed.

const scenarios: readonly Scenario[] = [
  ...exactScenarios,
  ...lostScenarios,
  costScenario,
  idleScenario,
  memoryScenario,
  revocationScenario,
]

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true, default: [] } } })
const only = values.only.flatMap((names) => names.split(','))
const names = scenarios.map(({ name }) => name)
for (const name of only)
  if (!names.includes(name)) throw new Error(`There is no scenario "${name}". Use one of: ${names.join(', ')}`)

const print = (text: string): void => void process.stdout.write(`${text}\n`)
// Fails now rather than in the first scenario.
getProgram('redis-server')
const servers = openServers()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    servers.stop().then(
      () => process.exit(130),
      () => process.exit(130),
    )
  })

const outcomes = new Map<string, Outcome>()
try {
  for (const { name, title, run } of scenarios) {
    if (only.length > 0 && !only.includes(name)) continue
    print(`${name}: ${title}`)
    const startedAt = performance.now()
    const outcome = await run(servers)
    print(`${formatOutcome(outcome)}\n  ${((performance.now() - startedAt) / 1_000).toFixed(1)} s\n`)
    outcomes.set(name, outcome)
  }
} finally {
  await servers.stop()
}
const missed = [...outcomes].flatMap(([name, { bars }]) => (bars.every(isMet) ? [] : [name]))
print(`${formatTable(outcomes)}\n`)
print(missed.length === 0 ? 'All bars are met.' : `Bars are missed in: ${missed.join(', ')}`)
// Left to itself, Node sometimes spins forever in its clean-up, after the pipes of killed processes.
process.exit(missed.length === 0 ? 0 : 1)
