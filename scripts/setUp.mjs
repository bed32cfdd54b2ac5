// Installs the dependencies of the workspace, and prints a line or two. Plain JavaScript, because it runs before anything is installed, also on Node 20.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const top = fileURLToPath(new URL('..', import.meta.url))
if (!existsSync(`${top}/node_modules/.modules.yaml`)) {
  console.log('Setting up: installing packages and Node 24 into node_modules. This takes about half a minute, once.')
}
const install = ['run', '--silent', 'pnpm', '--', 'install', '--frozen-lockfile', '--reporter=append-only']
const child = spawn('npm', install, {
  cwd: top,
  stdio: ['ignore', 'pipe', 'pipe'],
  shell: process.platform === 'win32',
})
let output = ''
for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
// On a slow network it takes minutes.
const timer = setInterval(() => console.log(`Still installing. ${output.trimEnd().split('\n').at(-1)}`), 20_000)
const [status] = await once(child, 'close').catch((error) => [1, (output += String(error))])
clearInterval(timer)
if (status !== 0) {
  console.error(`${output}\nSet-up failed. Try again: npm run setup`)
  process.exitCode = status ?? 1
}
