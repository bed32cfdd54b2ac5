import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startFaultServer } from '@keyrail/core/test/faultServer.ts'
import { resetAt } from '@keyrail/core/test/faults/resetAt.ts'
import { createLogsChain } from './logsChain.ts'
import { checkLogs } from './logsCheck.ts'
import { createLogsFaults } from './logsFaults.ts'
import { runLogs } from './logsRuns.ts'
import type { LogsRun } from './logsRuns.ts'

// An export of very many logs from a node that misbehaves, interrupted in every way and gone on with. `--blocks N`, `--seed N`, `--format csv`,
// `--good` for a node that behaves; ends with 1 where a log is missing, doubled or out of order, or where it took too much memory.
const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    format: { type: 'string', default: 'ndjson' },
    good: { type: 'boolean', default: false },
  },
})
const [blocks, seed] = [Number(values.blocks), Number(values.seed)]
if (!Number.isInteger(blocks) || blocks < 1_000) throw new Error('--blocks takes a whole number from 1000')
if (!Number.isInteger(seed)) throw new Error('--seed takes a whole number')
const mostMb = 200

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const chain = createLogsChain(blocks - 1)
const logs = chain.countOf(0, blocks - 1)
const faults = createLogsFaults(
  chain,
  values.good
    ? { seed, cap: Infinity, callsPerSecond: Infinity, share: 0 }
    : { seed, cap: 300, callsPerSecond: 60, share: 0.12 },
)
const server = await startFaultServer(faults.script)
const folder = mkdtempSync(join(tmpdir(), 'keyrail-logs-'))
const out = join(folder, `logs.${values.format}`)
const words = ['--url', server.url, '--from', '0', '--to', String(blocks - 1), '--out', out, '--json']
const runs: { readonly what: string; readonly run: LogsRun; readonly seconds: number }[] = []

/** Sent since this run began. */
const after = (part: number): (() => boolean) => {
  const until = faults.sent() + part * logs
  return () => faults.sent() >= until
}
const run = async (what: string, ending?: Parameters<typeof runLogs>[1]): Promise<LogsRun> => {
  const startedAt = performance.now()
  const ran = await runLogs(words, ending)
  const seconds = (performance.now() - startedAt) / 1_000
  runs.push({ what, run: ran, seconds })
  const size = existsSync(out) ? (statSync(out).size / 1e6).toFixed(0) : '0'
  say(
    `${what}: exit ${ran.exitCode}, ${seconds.toFixed(1)} s, ${ran.cpuSeconds?.toFixed(1)} s of the processor, ` +
      `at most ${ran.peakMb?.toFixed(0)} MB, the file has ${size} MB${ran.stdout === '' ? '' : `\n  ${ran.stdout.trim()}`}`,
  )
  return ran
}

const faultsFound: string[] = []
const must = (holds: boolean, what: string): void => {
  if (!holds) faultsFound.push(what)
}
try {
  say(`${blocks} blocks, ${logs} logs, seed ${seed}, ${values.good ? 'a good node' : 'a node that misbehaves'}`)
  if (!values.good) {
    const killedEarly = await run('SIGKILL at 3 %', { signal: 'SIGKILL', when: after(0.03) })
    must(killedEarly.exitCode === null, 'a killed process ends by the signal')
    const interrupted = await run('SIGINT after 20 % more', { signal: 'SIGINT', when: after(0.2) })
    must(interrupted.exitCode === 130, `interrupted, it ends with 130, not ${interrupted.exitCode}`)
    must(/the same command goes on from there/.test(interrupted.stderr), 'interrupted, it says how to go on')
    await run('SIGKILL after 20 % more', { signal: 'SIGKILL', when: after(0.2) })
    await run('SIGTERM after 10 % more', { signal: 'SIGTERM', when: after(0.1) })
    // The network goes away for so long that no single call outlives it, and comes back.
    const lostAt = after(0.1)
    const script = server.script
    const lose = setInterval(() => {
      if (!lostAt()) return
      clearInterval(lose)
      server.script = resetAt(0)
      setTimeout(() => (server.script = script), 25_000)
    }, 20)
    await run('SIGKILL after 25 % more, the network gone for 25 s', { signal: 'SIGKILL', when: after(0.25) })
  }
  const last = await run('to the end')
  must(last.exitCode === 0, `the last run ends with 0, not ${last.exitCode}: ${last.stderr}`)
  must(!existsSync(`${out}.cursor`) && !existsSync(`${out}.lock`), 'nothing is left beside the file')
  const { lines, wrong } = await checkLogs(out, chain.places(0, blocks - 1))
  must(lines === logs, `the file has ${lines} logs, not ${logs}`)
  faultsFound.push(...wrong)
  const peak = Math.max(...runs.map(({ run: { peakMb } }) => peakMb ?? 0))
  must(peak < mostMb, `it took ${peak.toFixed(0)} MB, and not less than ${mostMb}`)
  const cpu = runs.reduce((sum, { run: { cpuSeconds } }) => sum + (cpuSeconds ?? 0), 0)
  say(
    `\nthe node: ${Object.entries(faults.counts)
      .map(([name, times]) => `${name} ${times}`)
      .join(', ')}; ${faults.sent()} logs sent`,
  )
  say(
    `${lines} lines, ${wrong.length} wrong; at most ${peak.toFixed(0)} MB; ${cpu.toFixed(1)} s of the processor in ${runs.length} runs`,
  )
} finally {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
}
for (const fault of faultsFound) say(`WRONG: ${fault}`)
if (faultsFound.length > 0) process.exitCode = 1
else say('good: every log exactly once, in order')
