// Builds packages and packs them into a folder, with the packages that they depend on: npm run pack -- FOLDER NAME… A project installs the files
// with npm install FOLDER/*.tgz, until the packages are published.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readReleaseGroup } from './release/readReleaseGroup.ts'

const top = join(import.meta.dirname, '..')
const [folder, ...names] = process.argv.slice(2)
const published = readReleaseGroup(top).members.map(({ manifest }) => manifest.name)
const getShortName = (name: string): string => name.replace('@keyrail/', '')

const fail = (message: string): never => {
  console.error(`${message}\nUsage: npm run pack -- FOLDER NAME…, for example npm run pack -- ~/my-project fetch`)
  process.exit(1)
}

if (folder === undefined || names.length === 0) fail('Name a folder, and the packages to pack into it.')
const filters = names.flatMap((name) => {
  const found = published.find((one) => one === name || getShortName(one) === name)
  return [
    '--filter-prod',
    `${found ?? fail(`There is no package ${name}. The packages: ${published.map(getShortName).join(', ')}.`)}...`,
  ]
})

const runPnpm = (args: readonly string[]): void => {
  const { status, error, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'pnpm', '--', ...filters, ...args], {
    cwd: top,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status === 0) return
  console.error(error ?? `${stdout}${stderr}`)
  process.exit(status ?? 1)
}

const into = resolve(process.env['INIT_CWD'] ?? '.', folder ?? '')
mkdirSync(into, { recursive: true })
console.log('Building. This takes up to a minute.')
runPnpm(['-r', '--no-sort', 'run', 'build'])
runPnpm(['pack', '--pack-destination', into])
console.log(`Packed into ${into}. Install the files in your project: npm install ${into}/*.tgz`)
