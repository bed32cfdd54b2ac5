import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startFaultServer } from '@keyrail/core/test/faultServer.ts'
import { resetAt } from '@keyrail/core/test/faults/resetAt.ts'
import { createLogsChain } from 'keyrail/test/logsChain.ts'
import { checkLogs } from 'keyrail/test/logsCheck.ts'
import { createLogsFaults } from 'keyrail/test/logsFaults.ts'
import { runLogs } from 'keyrail/test/logsRuns.ts'
import type { LogsRun } from 'keyrail/test/logsRuns.ts'

// Exports a very large number of logs from a failing node, with interrupts and kills. Options: `--blocks N`, `--seed N`, `--format csv`, and `--healthy` for
// a node without failures. Exits with 1 if a log is missing, duplicated or out of order, or if the export used too much memory.
const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    format: { type: 'string', default: 'ndjson' },
    healthy: { type: 'boolean', default: false },
  },
})
const [blocks, seed] = [Number(values.blocks), Number(values.seed)]
if (!Number.isInteger(blocks) || blocks < 1_000) throw new Error('--blocks must be a whole number of at least 1000')
if (!Number.isInteger(seed)) throw new Error('--seed must be a whole number')
const maxMb = 200

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const chain = createLogsChain(blocks - 1)
const logs = chain.countLogs(0, blocks - 1)
const faults = createLogsFaults(
  chain,
  values.healthy
    ? { seed, cap: Infinity, callsPerSecond: Infinity, share: 0 }
    : { seed, cap: 300, callsPerSecond: 60, share: 0.12 },
)
const server = await startFaultServer(faults.script)
const folder = mkdtempSync(join(tmpdir(), 'keyrail-logs-'))
const out = join(folder, `logs.${values.format}`)
const words = ['--url', server.url, '--from', '0', '--to', String(blocks - 1), '--out', out, '--json']
const runs: { readonly what: string; readonly run: LogsRun; readonly seconds: number }[] = []

/** Whether the node has sent this share of the logs since the run started. */
const afterShare = (part: number): (() => boolean) => {
  const until = faults.sent() + part * logs
  return () => faults.sent() >= until
}
const run = async (what: string, ending?: Parameters<typeof runLogs>[1]): Promise<LogsRun> => {
  const startedAt = performance.now()
  const ran = await runLogs(words, ending)
  const seconds = (performance.now() - startedAt) / 1_000
  runs.push({ what, run: ran, seconds })
  const size = existsSync(out) ? (statSync(out).size / 1e6).toFixed(0) : '0'
  print(
    `${what}: exit ${ran.exitCode}, ${seconds.toFixed(1)} s, ${ran.cpuSeconds?.toFixed(1)} s CPU, ` +
      `peak ${ran.peakMb?.toFixed(0)} MB, file ${size} MB${ran.stdout === '' ? '' : `\n  ${ran.stdout.trim()}`}`,
  )
  return ran
}

const problems: string[] = []
const check = (holds: boolean, what: string): void => {
  if (!holds) problems.push(what)
}
try {
  print(`${blocks} blocks, ${logs} logs, seed ${seed}, ${values.healthy ? 'a healthy node' : 'a failing node'}`)
  if (!values.healthy) {
    const killedEarly = await run('SIGKILL at 3 %', { signal: 'SIGKILL', when: afterShare(0.03) })
    check(killedEarly.exitCode === null, 'a killed process has no exit code')
    const interrupted = await run('SIGINT after 20 % more', { signal: 'SIGINT', when: afterShare(0.2) })
    check(interrupted.exitCode === 130, `an interrupted run exits with 130, not ${interrupted.exitCode}`)
    check(/run the same command again to resume/.test(interrupted.stderr), 'an interrupted run prints how to resume')
    await run('SIGKILL after 20 % more', { signal: 'SIGKILL', when: afterShare(0.2) })
    await run('SIGTERM after 10 % more', { signal: 'SIGTERM', when: afterShare(0.1) })
    // The network is down for longer than the retries of a call.
    const isDue = afterShare(0.1)
    const script = server.script
    const timer = setInterval(() => {
      if (!isDue()) return
      clearInterval(timer)
      server.script = resetAt(0)
      setTimeout(() => (server.script = script), 25_000)
    }, 20)
    await run('SIGKILL after 25 % more, with the network down for 25 s', { signal: 'SIGKILL', when: afterShare(0.25) })
  }
  const last = await run('to the end')
  check(last.exitCode === 0, `the last run exits with 0, not ${last.exitCode}: ${last.stderr}`)
  check(!existsSync(`${out}.cursor`) && !existsSync(`${out}.lock`), 'no other files remain')
  const { lines, wrong } = await checkLogs(out, chain.places(0, blocks - 1))
  check(lines === logs, `the file has ${lines} logs, not ${logs}`)
  problems.push(...wrong)
  const peak = Math.max(...runs.map(({ run: { peakMb } }) => peakMb ?? 0))
  check(peak < maxMb, `peak memory was ${peak.toFixed(0)} MB, expected less than ${maxMb}`)
  const cpu = runs.reduce((sum, { run: { cpuSeconds } }) => sum + (cpuSeconds ?? 0), 0)
  print(
    `\nthe node: ${Object.entries(faults.counts)
      .map(([name, times]) => `${name} ${times}`)
      .join(', ')}; ${faults.sent()} logs sent`,
  )
  print(
    `${lines} lines, ${wrong.length} wrong; peak ${peak.toFixed(0)} MB; ${cpu.toFixed(1)} s CPU in ${runs.length} runs`,
  )
} finally {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
}
for (const problem of problems) print(`WRONG: ${problem}`)
if (problems.length > 0) process.exitCode = 1
else print('ok: every log exactly once, in order')
