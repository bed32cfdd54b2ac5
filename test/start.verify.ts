import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { run, top } from './run.ts'

// Tests `npm start` from the top of the workspace. The tests of the command itself cover its output and its shutdown.

// A path without the workspace's tools, with a Node that is too old to run the service.
const path = [
  join(top, 'node_modules/node20/bin'),
  ...(process.env['PATH'] ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules')),
].join(delimiter)
const env = { PATH: path }

const fullKey = /kr_[atm][0-9A-Za-z]{39}/

test('npm start -- --once passes its arguments on, shows both networks with both URL forms and every library, and exits with 0', async () => {
  const { code, stdout, stderr } = await run(
    'npm',
    ['start', '--silent', '--', '--once', '--port', '0', '--ephemeral'],
    { env },
  )
  expect(code, stderr).toBe(0)
  for (const network of ['testnet', 'mainnet']) {
    for (const form of ['app', 'API key']) {
      for (const library of ['fetch', 'ethers', 'web3', 'viem']) {
        const row = `^${network} +${form}, @keyrail/${library} +\\d+ +0x[0-9a-f]{64} +matches`
        expect(stdout).toMatch(new RegExp(row, 'm'))
      }
    }
  }
  expect(stdout + stderr).not.toMatch(fullKey)
  // The set-up is up to date, so it prints nothing. The pages are built if this checkout has none yet.
  expect(stderr.replaceAll(/^(npm warn|Building the pages) .*\n/gm, '')).toBe('')
})

test('Ctrl-C under npm start stops the service, and leaves no process and no file', async () => {
  // Another service may be running here, so this test has its own env file.
  const env = join(mkdtempSync(join(tmpdir(), 'keyrail-test-')), 'local.env')
  const started = spawn('npm', ['start', '--', '--port', '0', '--ephemeral', '--env', env], {
    cwd: top,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const group = started.pid ?? 0
  const exited = new Promise<unknown>((resolve) => started.once('exit', (code, signal) => resolve(code ?? signal)))
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    started.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (printed.includes('Serving until Ctrl-C')) resolve()
    })
    started.once('exit', () => reject(new Error(`it exited before it was ready: ${printed}`)))
  })
  expect(printed).not.toMatch(fullKey)
  // With what npm prints before it. A screen has 24 lines.
  const lines = printed.trimEnd().split('\n')
  expect(lines.length, printed).toBeLessThanOrEqual(24)
  // The paths of this temporary folder are longer than those of `.keyrail`.
  for (const line of lines.filter((one) => !one.includes(tmpdir()) && !one.startsWith('> ')))
    expect(line.length, line).toBeLessThanOrEqual(100)
  expect(readFileSync(env, 'utf8')).toMatch(fullKey)
  expect(isAlive(group)).toBe(true)
  // A terminal also sends the signal to the whole process group.
  process.kill(-group, 'SIGINT')
  // npm exits as its shell does, and some shells end with the signal although the service exited with 0.
  expect([0, 130, 'SIGINT']).toContain(await exited)
  await expect.poll(() => isAlive(group)).toBe(false)
  expect(existsSync(env)).toBe(false)
  rmSync(dirname(env), { recursive: true, force: true })
})

/** Returns whether any process of a group is running. */
function isAlive(group: number): boolean {
  try {
    return process.kill(-group, 0)
  } catch {
    return false
  }
}
