import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { respondWith } from '@keyrail/core/test/faults/respondWith.ts'
import { startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer } from '@keyrail/core/test/faultServer.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { needsPython, setUpPython } from '../../../scripts/setUpPython.ts'
import { createLogsChain } from './logsChain.ts'
import { runLogs } from './logsRuns.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const environment = await setUpPython()
const python = 'python' in environment ? environment.python : ''

const transfer = 'Transfer(address indexed from, address indexed to, uint256 value)'
/** The node has no logs of this event. */
const everyType =
  'E(uint64 a, int40 b, uint72 c, bool d, bytes4 e, (uint8 n, uint256[] big)[] f, string indexed g, uint8 logIndex, uint)'
/** Exports the same logs with `to_parquet`, and compares the two files. */
const program = `
import sys
import pyarrow.parquet as parquet
from web3 import Web3
from keyrail import KeyrailProvider, logs

url, ours, theirs, event = sys.argv[1:]
with KeyrailProvider(url=url) as provider:
    logs(Web3(provider), from_block=0, event=event or None).to_parquet(theirs)
one, other = parquet.read_table(ours), parquet.read_table(theirs)
assert one.schema.equals(other.schema), f"{one.schema}\\n\\n{other.schema}"
assert one.equals(other)
print(one.num_rows)
`

let server: FaultServer
let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  server = await startFaultServer()
  server.script = respondWith(createLogsChain(5_000).getItem)
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each<[string, string, string[], number]>([
  ['topics and data', '', [], 25_000],
  ['the parameters of an event', transfer, ['--event', transfer, '--decode'], 14_000],
  ['every type', everyType, ['--event', everyType, '--decode'], 0],
])(
  'a Parquet file with %s is the same as that of the Python package',
  needsPython(environment),
  async (what, event, options, rows) => {
    const [ours, theirs] = [join(folder, `${what}.parquet`), join(folder, `${what}.python.parquet`)]
    const run = await runLogs(['--url', server.url, '--from', '0', '--out', ours, '--json', ...options])
    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.parse(run.stdout)).toMatchObject({ finished: true, logs: rows, skipped: 0 })
    expect(run.peakMb ?? 0).toBeLessThan(200)
    const { stdout } = await promisify(execFile)(python, ['-c', program, server.url, ours, theirs, event])
    expect(stdout.trim()).toBe(String(rows))
  },
)
