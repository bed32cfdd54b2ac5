import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createApiKey } from '@keyrail/gateway'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { askBlock } from '../src/node/askNode.ts'
import type { BlockHead } from '../src/node/askNode.ts'
import { startDevCli } from './runCli.ts'
import type { CliRun, RunningDev } from './runCli.ts'

// Whole services are started, several to a test, on a machine that has other things to do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const examples = fileURLToPath(new URL('../../../examples', import.meta.url))
const names = readdirSync(examples).filter((name) => name.startsWith('latest-block-'))

let room = ''
let dev: RunningDev
let latest: BlockHead

beforeAll(async () => {
  // The examples look for the service of the workspace that they lie in. In a copy of it that is this test's own.
  room = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  cpSync(examples, join(room, 'examples'), { recursive: true, filter: (path) => !path.endsWith('node_modules') })
  for (const name of names) {
    symlinkSync(join(examples, name, 'node_modules'), join(room, 'examples', name, 'node_modules'))
  }
  dev = await startDevCli(['--env', join(room, '.keyrail/local.env')])
  latest = await askBlock(dev.service.nodes.testnet, 'latest')
})

afterAll(async () => {
  dev.child.kill('SIGTERM')
  await dev.done
  rmSync(room, { recursive: true, force: true })
})

/** Runs an example as its package's script does, with nothing of ours in the environment but what is given. */
function runExample(name: string, environment: Readonly<Record<string, string>>): Promise<CliRun> {
  const inherited = Object.entries(process.env).filter(([variable]) => !/^(KEYRAIL_|NODE_OPTIONS$)/.test(variable))
  const child = spawn(process.execPath, ['--conditions=@keyrail/source', 'latestBlock.ts'], {
    cwd: join(room, 'examples', name),
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 15_000,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr }))
  })
}

const expectLatest = (run: CliRun, label: string): void => {
  expect(run).toEqual({
    exitCode: 0,
    stdout: `Block ${BigInt(latest.number)} is ${latest.hash}\nAsked at ${label}\n`,
    stderr: '',
  })
}

test('there is one for fetch and one for each adapter', () => {
  expect(names).toEqual(['latest-block-ethers', 'latest-block-fetch', 'latest-block-viem', 'latest-block-web3'])
})

describe.each(names)('examples/%s', (name) => {
  test('reads the latest block of the service on this machine, and ends by itself', async () => {
    const { url, app } = dev.service
    expectLatest(await runExample(name, {}), `${url}/testnet/v2/…${app.apiKey.slice(-4)}`)
  })

  test('reads it wherever the environment says', async () => {
    const { url, keys } = dev.service
    const environment = { KEYRAIL_RPC_URL: `${url}/testnet`, KEYRAIL_API_KEY: keys.testnet.apiKey }
    expectLatest(await runExample(name, environment), `${url}/testnet/…${keys.testnet.apiKey.slice(-4)}`)
  })

  test('fails with a key that is wrong, and does not print it', async () => {
    const apiKey = createApiKey('app')
    const run = await runExample(name, { KEYRAIL_BASE_URL: `${dev.service.url}/testnet`, KEYRAIL_API_KEY: apiKey })
    expect(run.exitCode).toBe(1)
    expect(run.stdout).toBe('')
    expect(run.stderr).toContain('Invalid API key')
    expect(run.stderr).not.toContain(apiKey.slice(4, 12))
  })
})

test('a key of the environment is never sent to the service on this machine in place of its own', async () => {
  const run = await runExample('latest-block-fetch', { KEYRAIL_API_KEY: createApiKey('app') })
  expect(run.exitCode).toBe(0)
})

test('a whole address is taken as it is', async () => {
  const { url, app } = dev.service
  const run = await runExample('latest-block-fetch', { KEYRAIL_URL: app.addresses.testnet })
  expectLatest(run, `${url}/…${app.apiKey.slice(-4)}`)
})

test('once the service stops, its address is forgotten, and an example says how to start it', async () => {
  const file = join(room, '.keyrail/local.env')
  expect(existsSync(file)).toBe(true)
  dev.child.kill('SIGINT')
  await dev.done
  expect(existsSync(file)).toBe(false)
  const run = await runExample('latest-block-fetch', {})
  expect(run).toMatchObject({ exitCode: 2, stdout: '' })
  expect(run.stderr).toContain('npm start')
})
