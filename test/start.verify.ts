import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { run, top } from './run.ts'

// What it prints and how it stops is tested beside the command itself; here it is the way there from the top of the workspace.

// A machine that knows nothing of the workspace, and whose own Node is too old to run it.
const path = [
  join(top, 'node_modules/node20/bin'),
  ...(process.env['PATH'] ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules')),
].join(delimiter)
const env = { PATH: path }

const wholeKey = /kr_[atm][0-9A-Za-z]{39}/

test('npm start -- --once passes its words on, shows both networks by both address shapes through every library, and ends well', async () => {
  const { code, stdout, stderr } = await run('npm', ['start', '--silent', '--', '--once', '--port', '0'], { env })
  expect(code, stderr).toBe(0)
  for (const network of ['testnet', 'mainnet']) {
    for (const shape of ['app', 'API key']) {
      for (const library of ['fetch', 'ethers', 'web3', 'viem']) {
        const row = `^${network} +${shape}, @keyrail/${library} +\\d+ +0x[0-9a-f]{64} +matches`
        expect(stdout).toMatch(new RegExp(row, 'm'))
      }
    }
  }
  expect(stdout + stderr).not.toMatch(wholeKey)
  // Nothing to set up, nothing said of it.
  expect(stderr.replaceAll(/^npm warn .*\n/gm, '')).toBe('')
})

test('Ctrl-C under npm start reaches the service, and nothing of it stays behind', async () => {
  // The file of the service that somebody may run here meanwhile is left alone.
  const env = join(mkdtempSync(join(tmpdir(), 'keyrail-test-')), 'local.env')
  const started = spawn('npm', ['start', '--', '--port', '0', '--env', env], {
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
    started.once('exit', () => reject(new Error(`it ended before it served: ${printed}`)))
  })
  expect(printed).not.toMatch(wholeKey)
  expect(readFileSync(env, 'utf8')).toMatch(wholeKey)
  expect(isAlive(group)).toBe(true)
  // A terminal sends the signal to the whole group, as here.
  process.kill(-group, 'SIGINT')
  // npm passes on how its shell ended, and some shells end by the signal although the service ended well.
  expect([0, 130, 'SIGINT']).toContain(await exited)
  await expect.poll(() => isAlive(group), { timeout: 30_000 }).toBe(false)
  expect(existsSync(env)).toBe(false)
  rmSync(dirname(env), { recursive: true, force: true })
})

/** Whether any process of a group is left. */
function isAlive(group: number): boolean {
  try {
    return process.kill(-group, 0)
  } catch {
    return false
  }
}
