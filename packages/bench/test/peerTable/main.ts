import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { adapters, findAcceptedProblem } from '@keyrail/core/test/adapterVectors.ts'
import { formatPeers, findLosses } from './formatPeers.ts'
import type { Outcome, PeerTable } from './formatPeers.ts'
import { columns } from './subjects.ts'
// Imported, so that a missing dependency is a type error.
import manifest from '../../package.json' with { type: 'json' }

/** How many subjects run at the same time. They mostly wait. */
const AT_ONCE = 3

const run = async (subject: string): Promise<readonly Outcome[]> => {
  const script = fileURLToPath(new URL('runSubject.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=@keyrail/source', script, subject], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const outcomes: Outcome[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    // Libraries may write other lines.
    if (line.startsWith('{"subject"')) outcomes.push(JSON.parse(line) as Outcome)
  }
  const [status] = (await ended) as [number | null]
  if (status !== 0) throw new Error(`${subject} ended with ${status}`)
  process.stdout.write(
    `${subject}: ${outcomes.filter(({ problems }) => problems.length === 0).length} of ${outcomes.length} right\n`,
  )
  return outcomes
}

const libraries = ['viem', 'ethers', 'web3'] as const
const versions = libraries.map((name) => `${name} ${manifest.dependencies[name]}`).join(', ')
const waiting = columns.map(({ subject }) => subject.name)
const outcomes: Outcome[] = []
const work = async (): Promise<void> => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) outcomes.push(...(await run(name)))
}
await Promise.all(Array.from({ length: AT_ONCE }, work))

const table: PeerTable = {
  columns: columns.map(({ subject, isOurs, made }) => ({ name: subject.name, isOurs, made })),
  cases: adapters.cases.filter(({ appliesTo }) => appliesTo.includes('ts')),
  outcomes,
  argumentFor: (name, subject) =>
    (findAcceptedProblem(name, subject, 'library') ?? findAcceptedProblem(name, subject, 'raw'))?.argument,
  run: `\`npm run measure -- peers\`, ${new Date().toISOString().slice(0, 10)}, ${versions}, Node ${process.versions.node}.`,
}
writeFileSync(new URL('../../PEERS.md', import.meta.url), formatPeers(table))
const unargued = findLosses(table).filter(({ argument }) => argument === undefined)
for (const { name, subject, cell } of unargued) process.stdout.write(`no reason given: ${subject}, ${name}: ${cell}\n`)
process.exitCode = unargued.length > 0 ? 1 : 0
