import { formatMissing } from '../../../../scripts/externalPrograms.ts'
import { setUpPython } from '../../../../scripts/setUpPython.ts'
import { startServer } from '../server/startServer.ts'
import { shuffle } from '../statistics.ts'
import { workloads } from './pythonRows.ts'
import { startPythonSubject } from './startPythonSubject.ts'
import type { PythonCost, PythonSubject } from './startPythonSubject.ts'

// Takes the number of rounds and 'sync' or 'async'; prints the figures of the row, each a list with one number per round.

const [, , rounds = '1', way = 'sync'] = process.argv

const found = await setUpPython()
if ('missing' in found) throw new Error(`the rows of Python cannot be measured: ${formatMissing(found.missing)}`)
const server = await startServer()
const libraries = { keyrail: 'keyrail', web3: 'web3.py', again: 'web3.py', instant: 'instant' } as const
type Name = keyof typeof libraries
const names = Object.keys(libraries) as Name[]
const subjects = Object.fromEntries(
  names.map((name) => [name, startPythonSubject(found.python, [libraries[name], way, server.url])]),
) as Record<Name, PythonSubject>

const noCost: PythonCost = { wallMs: 0, cpuMs: 0 }
const figures: Record<string, number[]> = {}
const add = (key: string, value: number): void => void (figures[key] ??= []).push(value)
/** A round is split into this many slices, and the subjects take turns, so that other load on the machine affects all of them equally. */
const slices = 10

// The first calls are not counted: they open connections and load code.
for (const name of names)
  for (const workload of workloads) await subjects[name].run(`${workload.name} ${workload.calls}`)
for (let round = 0; round < Number(rounds); round++) {
  for (const { name: workload, calls } of workloads) {
    const costs = { keyrail: noCost, web3: noCost, again: noCost, instant: noCost }
    for (let slice = 0; slice < slices; slice++) {
      for (const name of shuffle(names)) {
        const { wallMs, cpuMs } = await subjects[name].run(`${workload} ${calls}`)
        costs[name] = { wallMs: costs[name].wallMs + wallMs, cpuMs: costs[name].cpuMs + cpuMs }
      }
    }
    const { keyrail, web3, again, instant } = costs
    add(`${workload}Wall`, keyrail.wallMs / web3.wallMs)
    add(`${workload}WallControl`, again.wallMs / web3.wallMs)
    add(`${workload}Cpu`, keyrail.cpuMs / web3.cpuMs)
    add(`${workload}CpuControl`, again.cpuMs / web3.cpuMs)
    add(`${workload}Instant`, instant.cpuMs / web3.cpuMs)
    add(`${workload}Keyrail`, keyrail.wallMs)
    add(`${workload}Web3`, web3.wallMs)
  }
}
for (const name of names) subjects[name].stop()
server.stop()
process.stdout.write(JSON.stringify(figures))
