// Installs the dependencies of the workspace, and prints one line. Plain JavaScript, because it runs before anything is installed, also on Node 20.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const top = fileURLToPath(new URL('..', import.meta.url))
if (!existsSync(`${top}/node_modules/.modules.yaml`)) {
  console.log('Setting up: installing packages and Node 24 into node_modules. This takes about half a minute, once.')
}
const install = ['run', '--silent', 'pnpm', '--', 'install', '--frozen-lockfile', '--reporter=append-only']
const { status, stdout, stderr, error } = spawnSync('npm', install, {
  cwd: top,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'pipe'],
  shell: process.platform === 'win32',
})
if (status !== 0) {
  console.error(`${stdout ?? ''}${stderr ?? ''}${error ? String(error) : ''}\nSet-up failed. Try again: npm run setup`)
  process.exitCode = status ?? 1
}
