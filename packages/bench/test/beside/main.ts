import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { batch, single } from '../../src/gateway/bodies.ts'
import { startTarget } from '../../src/gateway/startTarget.ts'
import { workloads as pythonWorkloads } from '../../src/python/pythonRows.ts'
import { startPythonSubject } from '../../src/python/startPythonSubject.ts'
import { startServer } from '../../src/server/startServer.ts'
import { startSubject } from '../../src/startSubject.ts'
import { median, medianInterval, shuffle } from '../../src/statistics.ts'
import { thisCheckout } from '../../src/thisCheckout.ts'
import { workloads } from '../../src/workloads.ts'

// Compares this checkout with another one, whose path is the argument. Both must be set up and built, and have the same programs of the bench.

/** Measures the workloads of a side once. The numbers are costs by name, in any unit. */
interface Side {
  readonly measure: () => Promise<Readonly<Record<string, number>>>
  readonly stop: () => void
}

const MOST = 1.05
const print = (line: string): void => void process.stdout.write(`${line}\n`)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '10' },
    turns: { type: 'string', default: '3' },
    only: { type: 'string', default: 'gateway,sdk,python' },
  },
})
const [path] = positionals
const rounds = Number(values.rounds)
/** How often each side is measured in a round. They take turns, so that other load affects all of them equally. */
const turns = Number(values.turns)
if (path === undefined || !(rounds >= 1) || !(turns >= 1))
  throw new Error(
    'Usage: npm run measure -- beside PATH_OF_CHECKOUT [--rounds N] [--turns N] [--only gateway,sdk,python]',
  )
const other = pathToFileURL(`${resolve(path)}/`)
const server = await startServer()

const openGateway = async (checkout: URL): Promise<Side> => {
  const target = await startTarget('service', server.url, { checkout })
  const paths = target.target.paths['accepted'] ?? []
  const measure = async (seconds: number): Promise<Record<string, number>> => {
    const calls = await target.slice({ paths, bodies: single }, seconds)
    const batches = await target.slice({ paths, bodies: batch }, seconds)
    return { 'single calls, CPU': calls.cpuUs, 'batches of 100, CPU': batches.cpuUs }
  }
  await measure(2)
  return { measure: () => measure(1), stop: target.stop }
}

const openSdk = async (checkout: URL): Promise<Side> => {
  const subject = await startSubject('keyrail', server.url, checkout)
  const measure = async (): Promise<Record<string, number>> => {
    const costs: Record<string, number> = {}
    for (const name of ['sequential', 'concurrent', 'waves', 'fullBlocks', 'logs']) {
      const { cpuMs, error } = await subject.run({ workload: workloads[name]! })
      if (error !== undefined) throw new Error(error)
      costs[`${name}, CPU`] = cpuMs
    }
    return costs
  }
  await measure()
  return { measure, stop: subject.stop }
}

const openPython =
  (way: 'sync' | 'async') =>
  async (checkout: URL): Promise<Side> => {
    const find = ['scripts/python.ts', '-c', 'import sys; print(sys.executable)']
    const python = execFileSync(process.execPath, find, { cwd: checkout, encoding: 'utf8' }).trim()
    const subject = startPythonSubject(python, ['keyrail', way, server.url], checkout)
    const measure = async (): Promise<Record<string, number>> => {
      const costs: Record<string, number> = {}
      for (const { name, calls } of pythonWorkloads)
        costs[`${way} ${name}, CPU`] = (await subject.run(`${name} ${calls}`)).cpuMs
      return costs
    }
    await measure()
    return { measure, stop: subject.stop }
  }

const parts: Readonly<Record<string, readonly ((checkout: URL) => Promise<Side>)[]>> = {
  gateway: [openGateway],
  sdk: [openSdk],
  python: [openPython('sync'), openPython('async')],
}

let over = 0
for (const part of values.only.split(',')) {
  for (const open of parts[part] ?? []) {
    const ratios: Record<string, { ratio: number[]; control: number[] }> = {}
    for (let round = 0; round < rounds; round++) {
      // New processes for each round: chance at the start of a process affects that round only.
      const sides = { here: await open(thisCheckout), other: await open(other), again: await open(other) }
      const sums: Record<string, Record<keyof typeof sides, number>> = {}
      for (let turn = 0; turn < turns; turn++)
        for (const name of shuffle(Object.keys(sides) as (keyof typeof sides)[]))
          for (const [workload, cost] of Object.entries(await sides[name].measure()))
            (sums[workload] ??= { here: 0, other: 0, again: 0 })[name] += cost
      for (const side of Object.values(sides)) side.stop()
      for (const [workload, sum] of Object.entries(sums)) {
        const seen = (ratios[workload] ??= { ratio: [], control: [] })
        seen.ratio.push(sum.here / sum.other)
        seen.control.push(sum.again / sum.other)
      }
    }
    for (const [workload, { ratio, control }] of Object.entries(ratios)) {
      const [from, to] = medianInterval(ratio)
      const middle = median(ratio)
      if (middle > MOST) over++
      const beside = `${middle.toFixed(3)} (${from.toFixed(3)} to ${to.toFixed(3)})`
      print(`${part}, ${workload}: ${beside}, the other beside itself ${median(control).toFixed(3)}`)
    }
  }
}
server.stop()
print(over === 0 ? `No median is above ${MOST}.` : `${over} medians are above ${MOST}.`)
process.exitCode = over === 0 ? 0 : 1
