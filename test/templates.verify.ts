import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
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

/** What serves the page of a template: the built one, and in development. */
const servers: Readonly<Record<string, { readonly built: readonly string[]; readonly dev: readonly string[] }>> = {
  'react-wagmi': {
    built: ['node_modules/vite/bin/vite.js', 'preview', '--strictPort', '--port'],
    dev: ['node_modules/vite/bin/vite.js', '--host', '127.0.0.1', '--strictPort', '--port'],
  },
  next: {
    built: ['node_modules/next/dist/bin/next', 'start', '--port'],
    dev: ['node_modules/next/dist/bin/next', 'dev', '--port'],
  },
}

/** Serves a page on a free port, and opens it in Chromium. */
async function openPage(
  template: string,
  words: readonly string[],
  // Next.js ignores .env.local if NODE_ENV is test.
  mode: 'production' | 'development',
): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
  const port = await getFreePort()
  const server = spawn(process.execPath, [...words, `${port}`], {
    cwd: join(folder, template),
    env: { ...process.env, NODE_ENV: mode, NEXT_TELEMETRY_DISABLED: '1' },
    stdio: 'ignore',
    // Next.js serves pages in a process of its own.
    detached: true,
  })
  onTestFinished(async () => {
    process.kill(-(server.pid ?? 0), 'SIGKILL')
    await once(server, 'exit')
  })
  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  await expect
    .poll(() => page.goto(`http://127.0.0.1:${port}/`).then((response) => response?.status(), String), {
      timeout: 60_000,
    })
    .toBe(200)
  return { page, errors }
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

  const server = servers[template]
  if (server === undefined) return
  const options = { ...needs('chromium'), timeout: timeoutMs }

  test('shows the token in Chromium, on any port and without ORIGINS', options, async () => {
    const { page, errors } = await openPage(template, server.built, 'production')
    await expect.poll(() => page.locator('main').textContent(), { timeout: 60_000 }).toMatch(/999550 TEST/)
    expect(errors).toEqual([])
  })

  test('the page names a missing .env.local', options, async () => {
    const file = join(folder, template, '.env.local')
    renameSync(file, `${file}.away`)
    onTestFinished(() => renameSync(`${file}.away`, file))
    const { page, errors } = await openPage(template, server.dev, 'development')
    const alert = page.locator('p[role=alert]')
    await alert.waitFor({ timeout: 60_000 })
    expect(await alert.textContent()).toMatch(/Set (?:VITE_)?KEYRAIL_BASE_URL, .*KEYRAIL_CHAIN_ID in .*\.env\.local/)
    expect(errors).toEqual([])
  })
})
