import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { toSearchedTexts } from '../docs/.vitepress/agentPages.ts'
import { readPages } from '../docs/.vitepress/readPages.ts'

// What the package `keyrail` contains besides its own code: the dashboard, whose package is not published, and the docs, which `keyrail mcp` searches:
// the pages that the search of the site finds.

const top = join(import.meta.dirname, '..')
const cli = join(top, 'packages/cli')
const dashboard = join(top, 'packages/dashboard')
const build = join(dashboard, 'dist')

if (!existsSync(join(build, 'index.html'))) {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: dashboard, stdio: 'inherit' })
}
rmSync(join(cli, 'dashboard'), { recursive: true, force: true })
cpSync(build, join(cli, 'dashboard'), { recursive: true })

const docs = join(cli, 'docs')
rmSync(docs, { recursive: true, force: true })
for (const [path, text] of toSearchedTexts(readPages(top))) {
  mkdirSync(dirname(join(docs, path)), { recursive: true })
  writeFileSync(join(docs, path), text)
}
cpSync(join(top, 'docs/.vitepress/search.json'), join(docs, 'search.json'))
