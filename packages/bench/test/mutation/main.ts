// Mutation testing: changes the code of one part in a thousand small ways, and reports which changes no test notices.
//   npm run measure -- mutate         core's batch, retry, budget and failures
//   npm run measure -- mutate jwt     another part of parts.ts
// Further arguments go to Stryker: npm run measure -- mutate jwt --mutate packages/gateway/src/auth/jwt/verifyJwt.ts
// Stryker is half as large as all other dependencies together, so the first run installs it, not the set-up.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { mutationParts, partVariable } from './parts.ts'

const top = fileURLToPath(new URL('../../../../', import.meta.url))
const folder = fileURLToPath(new URL('.', import.meta.url))

const run = (command: string, commandArgs: readonly string[], cwd: string): void => {
  const shell = process.platform === 'win32' && command === 'npm'
  const { status, error } = spawnSync(command, commandArgs, { cwd, stdio: 'inherit', shell })
  if (error) process.stderr.write(`${String(error)}\n`)
  if (status !== 0) process.exit(status ?? 1)
}

const args = process.argv.slice(2)
const name = args[0]?.startsWith('-') === false ? args[0] : 'core'
const options = name === args[0] ? args.slice(1) : args
const part = mutationParts[name]
if (part === undefined) {
  process.stderr.write(`Unknown part "${name}". Use one of: ${Object.keys(mutationParts).join(', ')}.\n`)
  process.exit(2)
}

if (!existsSync(`${folder}node_modules/.package-lock.json`)) {
  // Its peer dependency is the workspace's vitest, which Node finds in a parent folder.
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  run('npm', ['install', '--legacy-peer-deps', ...quiet], folder)
}
const missing = [...part.mutate, ...part.tests].filter(
  (file) => globSync(file.replace(/!\([^)]*\)/, '*'), { cwd: `${top}packages/${part.package}` }).length === 0,
)
if (missing.length > 0) {
  process.stderr.write(`${folder}parts.ts names files of "${name}" that do not exist: ${missing.join(', ')}.\n`)
  process.exit(2)
}
const stryker = `${folder}node_modules/@stryker-mutator/core/bin/stryker.js`
const files = part.mutate.map((file) => `packages/${part.package}/${file}`).join(',')
// A later --mutate replaces an earlier one.
const mutate = options.includes('--mutate') ? [] : ['--mutate', files]
process.env[partVariable] = name
run(process.execPath, [stryker, 'run', `${folder}stryker.config.json`, ...mutate, ...options], top)
