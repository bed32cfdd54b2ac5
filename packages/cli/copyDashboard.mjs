import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

// The dashboard package is not published. The CLI, which serves it, includes its build.

const here = import.meta.dirname
const dashboard = join(here, '../dashboard')
const build = join(dashboard, 'dist')
const target = join(here, 'dashboard')

if (!existsSync(join(build, 'index.html'))) {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: dashboard, stdio: 'inherit' })
}
rmSync(target, { recursive: true, force: true })
cpSync(build, target, { recursive: true })
