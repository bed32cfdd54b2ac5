import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { formatBars, formatResults, formatRow } from './formatResults.ts'
import { installPeers } from './installPeers.ts'
import type { AnyMeasured } from './checkBars.ts'
import { measureCalls, measureCold } from './measure.ts'
import { measureFigures } from './measureFigures.ts'
import { FULL_ROUNDS, readArguments } from './readArguments.ts'
import { recordedRows, recordRow } from './recordedRows.ts'
import { callRows, coldRow, figureRows } from './rows.ts'
import { startServer } from './server/startServer.ts'

const print = (text: string): void => void process.stdout.write(`${text}\n\n`)

const args = process.argv.slice(2)
const { only, rounds, withPeers } = readArguments(args)
if (withPeers) installPeers()
const server = await startServer()
const how = { rounds, withPeers, url: server.url }
const command = `npm run measure -- bench${args.map((arg) => ` ${arg}`).join('')}`
const machine = `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB`
const all: AnyMeasured[] = []
const report = (measured: AnyMeasured): void => {
  print(formatRow(measured))
  all.push(measured)
  const enough = ('enough' in measured.row && measured.row.enough) || FULL_ROUNDS
  if (rounds < enough) return
  recordRow(measured, { command, machine })
  writeFileSync(new URL('../RESULTS.md', import.meta.url), formatResults(recordedRows()))
}
for (const row of callRows) if (only.includes(row.name)) report(await measureCalls(row, how))
if (only.includes(coldRow.name)) report(await measureCold(coldRow, how))
for (const row of figureRows) if (only.includes(row.name)) report(await measureFigures(row, how))
server.stop()
print(formatBars(all))
if (rounds < FULL_ROUNDS) print(`RESULTS.md takes rows that were measured in ${FULL_ROUNDS} rounds or more.`)
