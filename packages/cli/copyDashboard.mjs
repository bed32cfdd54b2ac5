import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

// The dashboard is a package of its own and goes nowhere by itself: its built pages travel with the command that serves them.

const here = import.meta.dirname
const dashboard = join(here, '../dashboard')
const pages = join(dashboard, 'dist')
const copy = join(here, 'dashboard')

if (!existsSync(join(pages, 'index.html'))) {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: dashboard, stdio: 'inherit' })
}
rmSync(copy, { recursive: true, force: true })
cpSync(pages, copy, { recursive: true })
