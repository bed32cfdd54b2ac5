import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { formatBars, formatRow } from './formatResults.ts'
import { installPeers } from './installPeers.ts'
import { measureCalls, measureCold } from './measure.ts'
import type { Measured } from './measure.ts'
import { FULL_ROUNDS, readArguments } from './readArguments.ts'
import { callRows, coldRow } from './rows.ts'
import { startServer } from './server/startServer.ts'

const print = (text: string): void => void process.stdout.write(`${text}\n\n`)

const args = process.argv.slice(2)
const { only, rounds, withPeers } = readArguments(args)
if (withPeers) installPeers()
const server = await startServer()
const how = { rounds, withPeers, url: server.url }
const all: Measured[] = []
for (const row of callRows.filter(({ name }) => only.includes(name))) {
  const measured = await measureCalls(row, how)
  print(formatRow(measured))
  all.push(measured)
}
if (only.includes(coldRow.name)) {
  const measured = await measureCold(coldRow, how)
  print(formatRow(measured))
  all.push(measured)
}
server.stop()
const bars = formatBars(all)
print(bars)

const isWhole = all.length === callRows.length + 1 && rounds >= FULL_ROUNDS
if (isWhole) {
  const facts = [
    `- command: \`npm run bench${args.length ? ` -- ${args.join(' ')}` : ''}\``,
    `- date: ${new Date().toISOString().slice(0, 16)} UTC`,
    `- machine: Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB`,
    '- ratios are medians of the ratios of each round, milliseconds and megabytes medians of the rounds',
  ]
  const text = ['# Results', facts.join('\n'), '## Bars', bars, '## Rows', ...all.map(formatRow)].join('\n\n')
  writeFileSync(new URL('../RESULTS.md', import.meta.url), text + '\n')
} else print(`RESULTS.md is written by a run of all rows in ${FULL_ROUNDS} rounds or more.`)
