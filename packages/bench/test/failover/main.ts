import { writeFileSync } from 'node:fs'
import { cases } from './cases.ts'
import type { Case } from './cases.ts'
import { findLosses, formatFailover } from './formatFailover.ts'
import type { FailoverRow } from './formatFailover.ts'
import { runErpc } from './runErpc.ts'
import { runKeyrail } from './runKeyrail.ts'

const [binary, version] = process.argv.slice(2)
if (binary === undefined || version === undefined)
  throw new Error('Missing arguments. Usage: npm run measure -- peers:erpc PATH_OF_BINARY VERSION')

const theirs = await runErpc(binary, cases)
const run = async (one: Case): Promise<Pick<FailoverRow, 'keyrail' | 'erpc'>> => {
  const single = cases.indexOf(one)
  return {
    keyrail: { single: await runKeyrail(one), batch: await runKeyrail({ ...one, form: 'batch' }) },
    // The batch of a failure follows its call.
    erpc: { single: theirs[single] ?? 'error', batch: theirs[single + 1] ?? 'error' },
  }
}
const rows: FailoverRow[] = []
for (const one of cases.filter(({ form }) => form === 'single')) {
  const { failure, isHeldOut } = one
  const limitation = 'limitation' in failure ? String(failure.limitation) : undefined
  rows.push({ name: failure.name, isHeldOut, limitation, ...(await run(one)) })
}
const day = new Date().toISOString().slice(0, 10)
const how = `\`npm run measure -- peers:erpc PATH_OF_BINARY VERSION\`, ${day}, eRPC ${version}, Node ${process.versions.node}.`
writeFileSync(new URL('../../FAILOVER.md', import.meta.url), formatFailover(rows, how))
const losses = findLosses(rows).filter(({ isHeldOut }) => !isHeldOut)
for (const { name } of losses) process.stdout.write(`eRPC is right and Keyrail is not: ${name}\n`)
process.exitCode = losses.length === 0 ? 0 : 1
