import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../scripts/externalPrograms.ts'
import { startDevCli } from '../packages/cli/test/runCli.ts'
import type { RunningDev } from '../packages/cli/test/runCli.ts'
import { openBrowser } from '../packages/core/test/openBrowser.ts'
import { getFreePort } from '../packages/gateway/test/getFreePort.ts'
import { getPacked } from './getPacked.ts'
import { run } from './run.ts'
import type { Ran } from './run.ts'

// Creates a project of each template with the packed command and the packed packages, installs it from the registry as a user would, and runs it
// against the service of `keyrail dev`.

const timeoutMs = 600_000
let folder = ''
let dev: RunningDev | undefined

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-templates-'))
  for (const name of ['core', 'fetch', 'viem', 'msw']) {
    const { tarball, manifest } = getPacked(name)
    cpSync(tarball, join(folder, 'packages', `keyrail-${name}-${manifest.version}.tgz`))
  }
  dev = await startDevCli(['--env', join(folder, 'local.env')])
}, timeoutMs)
afterAll(async () => {
  dev?.child.kill('SIGTERM')
  await dev?.done
  rmSync(folder, { recursive: true, force: true })
}, timeoutMs)

const npm = (template: string, ...words: readonly string[]): Promise<Ran> =>
  run('npm', words, { cwd: join(folder, template), env: { NEXT_TELEMETRY_DISABLED: '1' }, timeoutMs })
const expectSuccess = ({ code, stdout, stderr }: Ran): string => {
  expect(code, `${stdout}${stderr}`).toBe(0)
  return stdout
}

/** What serves the built page of a template. */
const servers: Readonly<Record<string, (port: number) => readonly string[]>> = {
  'react-wagmi': (port) => ['node_modules/vite/bin/vite.js', 'preview', '--port', `${port}`, '--strictPort'],
  next: (port) => ['node_modules/next/dist/bin/next', 'start', '--port', `${port}`],
}

describe.each(['node', 'react-wagmi', 'next'])('the template %s', (template) => {
  test(
    'installs, and passes its tests',
    async () => {
      const main = join(getPacked('create-keyrail').path, 'dist/main.js')
      const words = [main, template, '--template', template, '--env', 'local.env', '--packages', 'packages']
      expectSuccess(await run('node', words, { cwd: folder }))
      expectSuccess(await npm(template, 'install', '--no-audit', '--no-fund', '--prefer-offline'))
      expectSuccess(await npm(template, 'test'))
    },
    timeoutMs,
  )

  test(
    template === 'node' ? 'type-checks, and reads from the service' : 'builds',
    async () => {
      if (template === 'node') {
        expectSuccess(await npm(template, 'run', 'types'))
        const stdout = expectSuccess(await npm(template, 'start'))
        expect(stdout).toMatch(/^Block 10 at http:/m)
        expect(stdout).toContain('5 transfers of 1000450 tokens')
        expect(stdout).not.toContain(dev?.service.app.apiKey)
      } else expectSuccess(await npm(template, 'run', 'build'))
    },
    timeoutMs,
  )

  const serve = servers[template]
  if (serve === undefined) return
  test('shows the token in Chromium', { ...needs('chromium'), timeout: timeoutMs }, async () => {
    const port = await getFreePort()
    const server = spawn(process.execPath, serve(port), {
      cwd: join(folder, template),
      // Next.js ignores .env.local if NODE_ENV is test. The route of its template accepts no other origins.
      env: { ...process.env, NODE_ENV: 'production', ORIGINS: `http://127.0.0.1:${port}` },
      stdio: 'ignore',
    })
    onTestFinished(async () => {
      server.kill('SIGKILL')
      await once(server, 'exit')
    })
    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    const url = `http://127.0.0.1:${port}/`
    await expect
      .poll(() => page.goto(url).then((response) => response?.status(), String), { timeout: 60_000 })
      .toBe(200)
    const getText = (): Promise<string> => page.locator('main').textContent({ timeout: 60_000 }).then(String)
    await expect.poll(getText, { timeout: 60_000 }).toMatch(/999550 TEST/)
    expect(errors).toEqual([])
  })
})
