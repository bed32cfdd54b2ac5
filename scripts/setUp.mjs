// Installs the dependencies of the workspace, and prints a line or two. Plain JavaScript, because it runs before anything is installed, also on Node 18.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const top = fileURLToPath(new URL('..', import.meta.url))
const read = (file) => (existsSync(top + file) ? readFileSync(top + file, 'utf8') : undefined)

if (Number.parseInt(process.versions.node) < 20) {
  console.error(
    `Keyrail needs Node 20 or later, and this is Node ${process.versions.node}. Install a newer Node, for example from https://nodejs.org`,
  )
  process.exit(1)
}

// pnpm writes this copy of the lock file at the end of an install.
const installed = read('node_modules/.pnpm/lock.yaml')
if (installed === undefined || installed !== read('pnpm-lock.yaml')) await install()

/** Runs pnpm. Progress goes to standard error: the output of `npm start -- --json` is for programs. */
async function install() {
  if (installed === undefined)
    console.error('Setting up: installing packages and Node 24 into node_modules. This takes up to two minutes, once.')
  const args = ['--loglevel=error', 'run', 'pnpm', '--', 'install', '--frozen-lockfile', '--reporter=append-only']
  const child = spawn('npm', args, { cwd: top, stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const timer = setInterval(() => console.error(`Still installing. ${output.trimEnd().split('\n').at(-1)}`), 20_000)
  const [status] = await once(child, 'close').catch((error) => [1, (output += String(error))])
  clearInterval(timer)
  if (status === 0) return
  console.error(
    `${output}\nSet-up failed: the output above says why. Set-up downloads packages, so check the connection, then try again: npm run setup`,
  )
  process.exitCode = status ?? 1
}
