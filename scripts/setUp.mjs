// Installs what the workspace needs, with one line of talk. Plain JavaScript: it runs before anything is installed, on Node 20 too.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const top = fileURLToPath(new URL('..', import.meta.url))
if (!existsSync(`${top}/node_modules/.modules.yaml`)) {
  console.log('Setting up: packages and Node 24 come into node_modules. This takes about half a minute, once.')
}
const install = ['run', '--silent', 'pnpm', '--', 'install', '--frozen-lockfile', '--reporter=append-only']
const { status, stdout, stderr, error } = spawnSync('npm', install, {
  cwd: top,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'pipe'],
  shell: process.platform === 'win32',
})
if (status !== 0) {
  console.error(`${stdout ?? ''}${stderr ?? ''}${error ? String(error) : ''}\nSet-up failed: npm run setup`)
  process.exitCode = status ?? 1
}
