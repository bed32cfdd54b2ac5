import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { respondWith } from '@keyrail/core/test/faults/respondWith.ts'
import type { GetItem } from '@keyrail/core/test/faults/respondWith.ts'
import { startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer } from '@keyrail/core/test/faultServer.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { needsPython, setUpPython } from '../../../scripts/setUpPython.ts'
import { toEventTopic } from '../src/logs/toEventTopic.ts'
import { createLogsChain } from './logsChain.ts'
import { runLogs } from './logsRuns.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const environment = await setUpPython()
const python = 'python' in environment ? environment.python : ''

const transfer = 'Transfer(address indexed from, address indexed to, uint256 value)'
/** The node has no logs of this event. */
const everyType =
  'E(uint64 a, int40 b, uint72 c, bool d, bytes4 e, (uint8 n, uint256[] big)[] f, string indexed g, uint8 logIndex, uint)'
const named =
  'Named(address indexed from, address indexed to, string name, (string text, uint8 n)[] list, (string text, uint256 n) pair)'
const undecodable = 'undecodable logs'
const word = (value: number): string => value.toString(16).padStart(64, '0')
/** The data of a log of `named` whose last string has these two bytes. */
const createData = (name: string, end: string): string =>
  `0x${word(96)}${word(160)}${word(352)}${word(2)}${name}${'ff'.repeat(30)}${word(1)}${word(32)}${word(64)}${word(7)}${word(1)}${name.slice(2)}${'00'.repeat(31)}${word(64)}${word(8)}${word(2)}${end}`
const valid = createData('6162', '6364')
/** Without padding; not UTF-8, inside of a list and a tuple; too short; with a length above it; with an invalid topic. */
const undecodableData = [
  valid,
  createData('61ff', '6364'),
  createData('6162', 'fffe'),
  '0x',
  `0x${'ff'.repeat(96)}`,
  valid,
]
/** Handles calls as a chain with these logs of `named` in block 1. */
const createUndecodableLogs: GetItem = (call) => {
  const { getItem } = createLogsChain(1)
  if (call.method !== 'eth_getLogs') return getItem(call)
  // Any event of the chain, in place of this one.
  const filter = { ...(call.params[0] as object), topics: [] }
  const { result: found } = getItem({ ...call, params: [filter] }) as { readonly result: { topics: string[] }[] }
  const [log] = found
  if (log === undefined) return { result: [] }
  const [, from = '', to = ''] = log.topics
  const topics = [toEventTopic(named), from, to]
  const result = undecodableData.map((data, index) => ({
    ...log,
    topics: index === 5 ? [...topics.slice(0, 2), `0x${'ff'.repeat(32)}`] : topics,
    data,
    logIndex: `0x${index.toString(16)}`,
  }))
  return { result }
}
/** Exports the same logs with `to_parquet`, and compares the two files. */
const program = `
import sys
import pyarrow.parquet as parquet
from web3 import Web3
from keyrail import KeyrailProvider, logs

url, ours, theirs, event = sys.argv[1:]
with KeyrailProvider(url=url) as provider:
    result = logs(Web3(provider), from_block=0, event=event or None).to_parquet(theirs)
one, other = parquet.read_table(ours), parquet.read_table(theirs)
assert one.schema.equals(other.schema), f"{one.schema}\\n\\n{other.schema}"
assert one.equals(other)
print(one.num_rows, result.undecoded)
`

let server: FaultServer
let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  server = await startFaultServer()
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each<[string, string, string[], number]>([
  ['topics and data', '', [], 25_000],
  ['the parameters of an event', transfer, ['--event', transfer, '--decode'], 14_000],
  ['every type', everyType, ['--event', everyType, '--decode'], 0],
  [undecodable, named, ['--event', named, '--decode'], 6],
])(
  'a Parquet file with %s is the same as that of the Python package',
  needsPython(environment),
  async (what, event, options, rows) => {
    const undecoded = what === undecodable ? 5 : 0
    const [ours, theirs] = [join(folder, `${what}.parquet`), join(folder, `${what}.python.parquet`)]
    server.script = respondWith(what === undecodable ? createUndecodableLogs : createLogsChain(5_000).getItem)
    const run = await runLogs(['--url', server.url, '--from', '0', '--out', ours, '--json', ...options])
    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.parse(run.stdout)).toMatchObject({ finished: true, logs: rows, skipped: 0, undecoded })
    expect(run.peakMb ?? 0).toBeLessThan(200)
    const { stdout } = await promisify(execFile)(python, ['-c', program, server.url, ours, theirs, event])
    expect(stdout.trim()).toBe(`${rows} ${undecoded}`)
  },
)
