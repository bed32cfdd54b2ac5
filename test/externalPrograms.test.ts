import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { programNames } from '../scripts/externalPrograms.ts'
import { findStartedPrograms } from './findStartedPrograms.ts'
import { top } from './run.ts'

const names = [...programNames, 'python3', 'pg_restore', 'psql', 'google-chrome']

/** What the check cannot follow: programs that npm installs, that a test builds, or whose path the user gives. */
const checkedByHand: ReadonlySet<string> = new Set([
  'packages/bench/test/failover/runErpc.ts: binary',
  'packages/bench/test/geth/main.ts: binary',
  'packages/bench/test/geth/startGeth.ts: binary',
  'packages/bench/test/measure/main.ts: command',
  "packages/bench/test/store/measureCost.ts: 'dd'",
  'packages/bench/test/store/openProxies.ts: binary',
  'packages/bench/test/subscriptions/openGeths.ts: binary',
  'packages/cli/test/clients.verify.ts: program',
  'packages/cli/test/lyingNode.mjs: process.env.REAL_ANVIL',
  'packages/core/test/startAnvil.ts: findBinary()',
  'packages/gateway/test/allowList/readAsGo.verify.ts: program',
  "packages/gateway/test/storage/startPostgres.ts: join(bin, 'initdb')",
  "packages/gateway/test/storage/startPostgres.ts: join(bin, 'postgres')",
  'packages/snippets/test/programs.verify.ts: program',
  'packages/bench/test/mutation/main.ts: command',
  'scripts/releaseDryRun.ts: command',
  'test/reactNative.verify.ts: hermesc',
  'scripts/setUpPython.ts: base',
  "scripts/setUpPython.ts: join(environment, 'bin/python')",
  'scripts/setUpPython.ts: program',
  'test/adapterConsumers.verify.ts: program',
  'test/adapterConsumers.verify.ts: tsc',
  'test/consumers.verify.ts: program',
  'test/consumers.verify.ts: tsc',
  'test/packedService.verify.ts: tsc',
  'test/run.ts: command',
  'test/runtimes.verify.ts: program',
])

const read = (file: string): string => readFileSync(join(top, file), 'utf8')
const files = globSync(
  [
    'packages/*/test/**/*.{ts,tsx,mjs}',
    'packages/*/src/**/*.{test,verify}.ts',
    'test/*.ts',
    'scripts/*.ts',
    'examples/test/*.ts',
  ],
  { cwd: top, exclude: ['**/node_modules/**', 'scripts/externalPrograms.ts'] },
)

test('tests start a program that npm cannot install only after they have requested it', () => {
  expect(files.length).toBeGreaterThan(500)
  const problems = files.flatMap((file) => findStartedPrograms(file, read(file), names))
  expect(problems.filter((problem) => !checkedByHand.has(problem.replace(/:\d+:/, ':')))).toEqual([])
  const used = new Set(problems.map((problem) => problem.replace(/:\d+:/, ':')))
  expect([...checkedByHand].filter((one) => !used.has(one))).toEqual([])
})

// A folder is also named "python".
test('tests of the Python package start only openssl, which they run with', () => {
  const started = globSync('packages/python/tests/**/*.py', { cwd: top }).flatMap((file) =>
    [...read(file).matchAll(/["'](?:\/[\w/.-]+\/)?([\w-]+)["']/g)].flatMap(([, name = '']) =>
      name !== 'python' && names.includes(name) ? [name] : [],
    ),
  )
  expect([...new Set(started)]).toEqual(['openssl'])
})

test('only one file reads the variables that decide about missing programs', () => {
  const reading = [
    ...files,
    'vitest.config.ts',
    'vitest.verify.config.ts',
    ...globSync('packages/python/tests/**/*.py', { cwd: top }),
  ]
  const variable = /environ?\b.{0,9}KEYRAIL_TEST_(?:ALL|BARE)/
  expect(reading.filter((file) => variable.test(read(file)))).toEqual([])
})

describe('the check finds', () => {
  const from = "import { exec, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'\n"
  test.each([
    "spawn('redis-server', [])",
    "spawn('/usr/bin/redis-server', [])",
    "const program = 'redis-server'\nspawn(program, [])",
    "let program = ''\nprogram = 'redis-server'\nspawn(program, [])",
    "const { program } = read('compose.yaml')\nspawn(program, [])",
    'spawnSync(`/opt/${name}`)',
    "exec('redis-server --port 0')",
    "execFile('sh', ['-c', 'sleep 1; curl http://127.0.0.1'])",
    "promisify(execFile)('redis-cli', ['ping'])",
    "const start = promisify(execFile)\nawait start('openssl', ['req'])",
    "execFileSync('psql', [])",
    "spawn('firefox', [])",
    'const start = (program: string) => spawn(program, [])',
  ])('%s', (text) => {
    expect(findStartedPrograms('a.test.ts', from + text, names)).toHaveLength(1)
  })

  test.each([
    "spawn(getProgram('redis-server'), [])",
    "const program = getProgram('redis-server')\nspawn(program, [])",
    'spawn(process.execPath, [])',
    "execFileSync('git', ['status'])",
    "execFile('sh', ['-c', 'npm run keyrail'])",
    "pattern.exec('curl --silent')",
  ])('nothing in %s', (text) => {
    expect(findStartedPrograms('a.test.ts', from + text, names)).toEqual([])
  })
})
