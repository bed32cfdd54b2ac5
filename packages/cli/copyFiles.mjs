import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'

// What the package contains besides its own code: the dashboard, whose package is not published, and the docs, which `keyrail mcp` searches.

const here = import.meta.dirname
const dashboard = join(here, '../dashboard')
const build = join(dashboard, 'dist')

if (!existsSync(join(build, 'index.html'))) {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: dashboard, stdio: 'inherit' })
}
const copy = (from, to, options = {}) => {
  rmSync(join(here, to), { recursive: true, force: true })
  cpSync(from, join(here, to), { recursive: true, ...options })
}
copy(build, 'dashboard')

const docs = join(here, '../../docs')
const isPage = (path) => path === '' || /^(?!decisions|dashboard\/|[.])[^.]*([.]md)?$/.test(path)
copy(docs, 'docs', { filter: (source) => isPage(relative(docs, source).replaceAll('\\', '/')) })
cpSync(join(docs, '.vitepress/search.json'), join(here, 'docs/search.json'))
