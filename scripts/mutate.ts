// Mutation testing: changes the code in a thousand small ways, and tells which of them no test notices. What is given is passed on:
//   npm run mutate -- --mutate packages/core/src/transport/retry.ts
// Its tool is as large as half of what the whole workspace needs, so set-up leaves it out and it is installed here, the first time.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const top = fileURLToPath(new URL('..', import.meta.url))
const folder = fileURLToPath(new URL('mutation/', import.meta.url))

const run = (command: string, args: readonly string[], cwd: string): void => {
  const shell = process.platform === 'win32' && command === 'npm'
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit', shell })
  if (error) console.error(String(error))
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(`${folder}node_modules/.package-lock.json`)) {
  // Its peer is the workspace's own vitest, which is found further up.
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  run('npm', ['install', '--legacy-peer-deps', ...quiet], folder)
}
const stryker = `${folder}node_modules/@stryker-mutator/core/bin/stryker.js`
run(process.execPath, [stryker, 'run', 'scripts/mutation/stryker.config.json', ...process.argv.slice(2)], top)
