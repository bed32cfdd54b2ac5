import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runOrdinary } from './ordinary.ts'

// One hostile key beside 50 ordinary ones, with a service that may use 768 MB. Exits with 1 if the service ends or uses more, if the ordinary calls
// become slower than three times what they are without the attacker, or if an ordinary subscription misses something.

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error('--minutes must be a number above 0, such as 10')
const ordinaryCallers = 50
const maxMegabytes = 768
const maxSlowdown = 3
const controlRuns = 3

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
const start = (file: string, args: readonly string[], execArgv: readonly string[] = []): ChildProcess => {
  const child = fork(join(import.meta.dirname, file), args, { execArgv: ['--conditions=@keyrail/source', ...execArgv] })
  running.add(child)
  child.on('exit', () => running.delete(child))
  return child
}
const receive = async <T>(child: ChildProcess): Promise<T> => ((await once(child, 'message')) as [T])[0]
/** The most memory that a process has had resident, in megabytes. */
const readPeak = ({ pid }: ChildProcess): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1]) / 1024
}

interface Run {
  readonly p99: number
  readonly problems: readonly string[]
}

const run = async (name: string, forMs: number, isAttacked: boolean): Promise<Run> => {
  const node = start('nodeProcess.ts', [])
  const nodeUrl = await receive<string>(node)
  // As Node chooses it in a container with this memory.
  const service = start('serviceProcess.ts', [nodeUrl, String(ordinaryCallers)], ['--max-old-space-size=384'])
  let isEnded = false
  service.on('exit', () => (isEnded = true))
  const [hostileUrl = '', ...urls] = await receive<readonly string[]>(service)
  const attacker = isAttacked ? start('attackProcess.ts', [hostileUrl]) : undefined
  const result = await runOrdinary(urls, forMs)
  const problems = [...result.missing]
  if (result.failed > 0) problems.push(`${result.failed} of ${result.calls} ordinary calls failed`)
  const peak = isEnded ? NaN : readPeak(service)
  if (isEnded) problems.push('the service has ended')
  else if (peak > maxMegabytes) problems.push(`the service used ${Math.round(peak)} MB`)
  if (!isEnded) {
    service.send('report')
    process.stdout.write(`${await receive<string>(service)}\n`)
  }
  for (const child of [attacker, service, node]) child?.kill('SIGKILL')
  process.stdout.write(
    `${name}: ${result.calls} calls, p99 ${result.p99.toFixed(1)} ms, ${result.headers} blocks, ${result.logs} logs, at most ${Math.round(peak)} MB\n`,
  )
  return { p99: result.p99, problems }
}

const controls: Run[] = []
for (let count = 1; count <= controlRuns; count += 1)
  controls.push(await run(`control ${count}`, Math.max(10_000, minutes * 6_000), false))
const control = controls.map(({ p99 }) => p99).toSorted((a, b) => a - b)[1] ?? 0
const attacked = await run('with the hostile key', minutes * 60_000, true)
const ratio = attacked.p99 / control
process.stdout.write(`p99 with the hostile key: ${ratio.toFixed(2)} times that without it\n`)
const problems = [...controls.flatMap((one) => one.problems), ...attacked.problems]
if (ratio > maxSlowdown)
  problems.push(`the ordinary calls are ${ratio.toFixed(2)} times slower, more than ${maxSlowdown}`)
for (const problem of problems.slice(0, 20)) process.stdout.write(`problem: ${problem}\n`)
process.exit(problems.length === 0 ? 0 : 1)
