import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { measurements } from './measurements.ts'

// npm run measure -- NAME [options]: runs one of the measurements. README.md of this package lists them.

const top = fileURLToPath(new URL('../../../..', import.meta.url))
const [name = '', ...options] = process.argv.slice(2)
const measurement = Object.hasOwn(measurements, name) ? measurements[name] : undefined
if (measurement === undefined) {
  const problem = name === '' ? 'Name a measurement' : `There is no measurement "${name}"`
  process.stderr.write(
    `${problem}. Usage: npm run measure -- NAME [options], with one of: ${Object.keys(measurements).join(', ')}\n`,
  )
  process.exit(2)
}

const { program, nodeArguments = [], code } = measurement
const run = (command: string, args: readonly string[]): void => {
  const { status, error } = spawnSync(command, args, { cwd: top, stdio: 'inherit' })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}
if (code === 'built') run('npm', ['run', '--silent', 'build'])
const conditions = code === 'built' ? [] : ['--conditions=@keyrail/source']
run(process.execPath, [...conditions, ...nodeArguments, program, ...options])
