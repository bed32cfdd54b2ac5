// Runs Vitest. `--project core` also runs core's files that install fake timers: they are a Vitest project of their own, named "core (clock)".
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { clockSuffix } from './testProjects.ts'

const args = process.argv.slice(2)
const options = args.flatMap((option, index) => {
  if (args[index - 1] === '--project') return [option, '--project', `${option}${clockSuffix}`]
  return option.startsWith('--project=') ? [option, `${option}${clockSuffix}`] : [option]
})
const top = fileURLToPath(new URL('..', import.meta.url))
const vitest = fileURLToPath(new URL('vitest.mjs', import.meta.resolve('vitest/package.json')))
const { status, error } = spawnSync(process.execPath, [vitest, 'run', ...options], { cwd: top, stdio: 'inherit' })
if (error) throw error
process.exitCode = status ?? 1
