import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFences } from './findFences.ts'
import { getPacked } from './getPacked.ts'
import { run, top } from './run.ts'
import { startRuntimeServers } from './runtimeCalls.ts'
import type { RuntimeReport } from './runtimeCalls.ts'

// Installs Jest and the packed packages as a user would, and runs the configuration and the test of docs/msw.md, and the calls that every runtime makes.

const timeoutMs = 300_000
let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-jest-'))
  for (const { info, code } of findFences(readFileSync(join(top, 'docs/msw.md'), 'utf8'))) {
    const [, file] = info.split(' ')
    if (file !== undefined) writeFileSync(join(folder, file), code)
  }
  writeFileSync(join(folder, 'environment.test.ts'), environmentTest)
  writeFileSync(join(folder, 'makeCalls.js'), callsTest)
  cpSync(join(import.meta.dirname, 'consumers/runtimes/runCalls.mjs'), join(folder, 'runCalls.js'))
  const { devDependencies } = getPacked('msw').manifest
  const dependencies = {
    ...Object.fromEntries(
      ['core', 'fetch', 'msw', 'viem'].map((name) => [`@keyrail/${name}`, `file:${getPacked(name).tarball}`]),
    ),
    msw: devDependencies?.['msw'],
    viem: devDependencies?.['viem'],
    '@swc/core': '1.16.22',
    '@swc/jest': '0.2.39',
    jest: '30.5.2',
    'jest-environment-jsdom': '30.5.2',
    'jest-fixed-jsdom': '0.0.11',
    jsdom: '29.1.1',
    vitest: '5.1.0',
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  const npm = ['install', '--no-audit', '--no-fund', '--prefer-offline']
  const { code, stdout, stderr } = await run('npm', npm, { cwd: folder, timeoutMs })
  expect(code, `${stdout}${stderr}`).toBe(0)
}, timeoutMs)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Checks that the environment is the expected one, and that a subscription works in it.
const environmentTest = `
import { keyrail, webSocket } from '@keyrail/viem'
import { createMockNode, onUnhandledFrame } from '@keyrail/msw'
import { setupServer } from 'msw/node'
import { createPublicClient } from 'viem'

const url = 'https://node.example/v2/my-key'
const node = createMockNode({ url })
const server = setupServer(...node.handlers)
beforeAll(() => server.listen({ onUnhandledFrame }))
afterAll(() => server.close())

test('has a DOM if it should', () => {
  expect(typeof document).toBe(process.env.EXPECTED_DOCUMENT)
})

test('subscribes to blocks', async () => {
  const client = createPublicClient({ transport: keyrail({ url, webSocket: webSocket() }) })
  await new Promise((resolve, reject) => {
    const mining = setInterval(() => node.mine(), 20)
    const unwatch = client.watchBlockNumber({
      onBlockNumber() {
        clearInterval(mining)
        unwatch()
        resolve(undefined)
      },
      onError: reject,
    })
  })
  expect(node.calls('eth_subscribe')).toHaveLength(1)
})
`

// Runs only where its name is given, because it needs servers.
const callsTest = `
import { writeFileSync } from 'node:fs'
import { runCalls } from './runCalls.js'

test('makes the calls', async () => {
  expect(typeof document).toBe('object')
  writeFileSync('report.json', JSON.stringify(await runCalls(JSON.parse(process.env.GIVEN))))
}, 60_000)
`

const jest = ['node_modules/jest/bin/jest.js']
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--globals', '--environment', 'jsdom']

test.each([
  { name: 'Jest with jsdom', words: jest, document: 'object' },
  { name: 'Jest with its Node environment', words: [...jest, '--env', 'node'], document: 'undefined' },
  { name: 'Vitest with jsdom', words: vitest, document: 'object' },
])(
  'the mock node works in $name, without flags',
  async ({ words, document }) => {
    const env = { NODE_OPTIONS: '', NO_COLOR: '1', EXPECTED_DOCUMENT: document }
    const { code, stdout, stderr } = await run(process.execPath, words, { cwd: folder, env, timeoutMs })
    expect(code, `${stdout}${stderr}`).toBe(0)
    expect(`${stdout}${stderr}`).toMatch(/Tests:? +3 passed/)
  },
  timeoutMs,
)

test(
  'the packed SDK makes the same calls in Jest with jsdom as in every runtime',
  async () => {
    const { given, expectReport, expectNoKey, stop } = await startRuntimeServers()
    try {
      const env = { NODE_OPTIONS: '', NO_COLOR: '1', GIVEN: given }
      const words = [...jest, '--testMatch', '**/makeCalls.js']
      const { code, stdout, stderr } = await run(process.execPath, words, { cwd: folder, env, timeoutMs })
      expect(code, `${stdout}${stderr}`).toBe(0)
      const report = readFileSync(join(folder, 'report.json'), 'utf8')
      // The environment resolves packages as in Node, and not as in a browser.
      expectReport(JSON.parse(report) as RuntimeReport, false)
      expectNoKey(`${report}${stdout}${stderr}`)
    } finally {
      await stop()
    }
  },
  timeoutMs,
)
