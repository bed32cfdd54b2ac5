import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { respondWith } from '@keyrail/core/test/faults/respondWith.ts'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { contracts, createLogsChain, holder, transferTopic } from './logsChain.ts'
import { checkLogs } from './logsCheck.ts'
import { createLogsFaults } from './logsFaults.ts'
import { runLogs } from './logsRuns.ts'
import { startCli, until } from './runCli.ts'
import { getProgram, needs } from '../../../scripts/externalPrograms.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let server: FaultServer
let folder = ''
let runs = 0
let out = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  server = await startFaultServer()
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  out = join(folder, `logs${++runs}`)
})

const parseSummary = (line: string): Record<string, unknown> => JSON.parse(line) as Record<string, unknown>

describe('keyrail logs to a file', () => {
  test('writes every log once, in order, despite node failures, an interrupt and a kill', async () => {
    const last = 5_999
    const chain = createLogsChain(last)
    const logs = chain.countLogs(0, last)
    const faults = createLogsFaults(chain, { seed: 7, cap: 100, callsPerSecond: 1_000, share: 0.2 })
    server.script = faults.script
    const words = ['--url', server.url, '--from', '0', '--to', String(last), '--out', out, '--json']

    const interrupted = await runLogs(words, { signal: 'SIGINT', when: () => faults.sent() > logs * 0.3 })
    expect(interrupted.exitCode).toBe(130)
    expect(interrupted.stderr).toMatch(
      /"message":"interrupted: wrote .*, next block \d+","hint":"run the same command again to resume"/,
    )
    const summary = parseSummary(interrupted.stdout)
    expect(summary).toMatchObject({ finished: false, resumed: false, fromBlock: 0, toBlock: last })
    expect(summary['nextBlock']).toBeLessThan(last)
    expect(existsSync(`${out}.lock`)).toBe(false)

    const sent = faults.sent()
    const killed = await runLogs(words, { signal: 'SIGKILL', when: () => faults.sent() > sent + logs * 0.3 })
    expect(killed.exitCode).toBeNull()
    expect(existsSync(`${out}.cursor`)).toBe(true)

    const completed = await runLogs(words)
    expect(completed).toMatchObject({ exitCode: 0, stderr: '' })
    expect(parseSummary(completed.stdout)).toMatchObject({
      finished: true,
      out,
      format: 'ndjson',
      chainId: chain.chainId,
      nextBlock: last + 1,
      logs,
      bytes: readFileSync(out).length,
      resumed: true,
    })
    expect(await checkLogs(out, chain.places(0, last))).toEqual({ lines: logs, wrong: [] })
    expect([`${out}.cursor`, `${out}.lock`].filter((file) => existsSync(file))).toEqual([])
    // The node did fail.
    const { success = 0, 'range rejected': rejected = 0, ...broken } = faults.counts
    expect([success > 0, rejected > 0]).toEqual([true, true])
    expect(Object.values(broken).reduce((sum, times) => sum + times, 0)).toBeGreaterThan(5)
    for (const { peakMb } of [interrupted, killed, completed]) expect(peakMb ?? 0).toBeLessThan(200)
  })

  test('writes CSV for a .csv file, filtered by contract and event', async () => {
    const chain = createLogsChain(50)
    server.script = respondWith(chain.getItem)
    out += '.csv'
    const transfer = 'Transfer(address indexed from, address indexed to, uint256 value)'
    const words = ['--from', '0', '--address', contracts[0], '--event', transfer, '--topic1', holder, '--out', out]
    const run = await runLogs(['--url', server.url, ...words])
    const wanted = [...chain.places(0, 50)].filter(({ index }) => index % 2 === 0)
    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(run.stdout).toMatch(
      new RegExp(`^wrote ${wanted.length} logs of blocks 0 to 50 to ${out} \\(.* s, .*/s\\)\n$`),
    )
    expect(await checkLogs(out, wanted.values() as Iterator<(typeof wanted)[number], void, undefined>)).toEqual({
      lines: wanted.length,
      wrong: [],
    })
    const [, first] = readFileSync(out, 'utf8').split('\r\n')
    expect(first?.split(',').slice(5, 8)).toEqual(['0', contracts[0], transferTopic])
  })

  test('prints the error if the service rejects the call, and writes nothing', async () => {
    server.script = raw(401, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32001,"message":"no such key"}}')
    const key = `kr_a${'k'.repeat(39)}`
    const keyFile = join(folder, 'key')
    writeFileSync(keyFile, key)
    const words = ['--base-url', server.url, '--key-file', keyFile, '--from', '0', '--out', out]
    const run = await runLogs(words)
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toMatch(/^auth: /)
    expect(run.stderr).not.toContain(key.slice(4, 20))
    expect([out, `${out}.cursor`, `${out}.lock`].filter((file) => existsSync(file))).toEqual([])
  })
})

const chain = createLogsChain(399)
/** Holds back responses to requests for logs from a block on, until released. */
const createHold = (
  block: number,
): { readonly script: Script; readonly count: () => number; readonly release: () => void } => {
  const normal = respondWith(chain.getItem)
  const held: Parameters<Script>[] = []
  let open = false
  return {
    script: (...args) => {
      const [{ json }] = args
      const { fromBlock } = Object(json.params[0]) as { fromBlock?: string }
      if (!open && json.method === 'eth_getLogs' && Number(fromBlock) >= block) held.push(args)
      else normal(...args)
    },
    count: () => held.length,
    release: () => {
      open = true
      for (const args of held) normal(...args)
    },
  }
}
describe('keyrail logs to standard output', () => {
  const words = (from: string): string[] => ['--url', server.url, '--from', from, '--max-blocks', '50']

  test('writes complete blocks, and Ctrl-C prints the --from to resume with', async () => {
    const hold = createHold(200)
    server.script = hold.script
    const running = startCli(['logs', ...words('0')])
    await until(
      'half of the blocks are written',
      () => hold.count() > 0 && running.printed().stdout.includes('"blockNumber":199,'),
    )
    running.child.kill('SIGINT')
    const first = await running.done
    expect(first.exitCode).toBe(130)
    const [, next = ''] = /hint: resume with --from (\d+)/.exec(first.stderr) ?? []
    expect(next).toBe('200')

    server.script = respondWith(chain.getItem)
    const second = await runLogs([...words(next), '--json'])
    expect(second.exitCode).toBe(0)
    expect(parseSummary(second.stderr)).toMatchObject({ finished: true, out: null, bytes: null, fromBlock: 200 })
    writeFileSync(out, first.stdout + second.stdout)
    expect(await checkLogs(out, chain.places(0, 399))).toEqual({ lines: chain.countLogs(0, 399), wrong: [] })
  })

  test('exits with 0 if the reader closes the stream', async () => {
    const hold = createHold(200)
    server.script = hold.script
    const running = startCli(['logs', ...words('0')])
    await until('some blocks are written', () => hold.count() > 0 && running.printed().stdout !== '')
    running.child.stdout?.destroy()
    hold.release()
    expect(await running.done).toMatchObject({ exitCode: 0, stderr: '' })
  })
})

describe('keyrail logs on a terminal', needs('python'), () => {
  test('shows the progress, and stops at Ctrl-C', async () => {
    const [main, onTerminal] = ['../src/main.ts', './onTerminal.py'].map((path) =>
      fileURLToPath(new URL(path, import.meta.url)),
    ) as [string, string]
    const hold = createHold(200)
    server.script = hold.script
    const words = ['--url', server.url, '--from', '0', '--max-blocks', '50', '--out', out]
    const child = spawn(
      getProgram('python'),
      [onTerminal, process.execPath, '--conditions=@keyrail/source', main, 'logs', ...words],
      { env: { ...process.env, TERM: 'xterm', NO_COLOR: '1' } },
    )
    // This closes its terminal, which stops the command.
    onTestFinished(() => void child.kill())
    let screen = ''
    child.stdout.on('data', (chunk: Buffer) => (screen += chunk.toString()))
    const done = new Promise((resolve) => child.once('close', resolve))
    await until('the line shows the progress', () => / 50 % ━+─+ 200 of 400 blocks · 1,000 logs · /.test(screen))
    child.stdin.write('\u0003')
    expect(await done).toBe(130)
    expect(screen.endsWith('  hint: run the same command again to resume\r\n')).toBe(true)
    expect(screen).toContain(`\u001B[2Kkeyrail: interrupted: wrote 1,000 logs to ${out}, next block 200`)
    hold.release()
  })
})
