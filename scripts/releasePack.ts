// Packs all published packages into a folder for releasePublish.ts: node scripts/releasePack.ts FOLDER. Needs a build, but no permissions and no network.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readReleaseGroup } from './release/readReleaseGroup.ts'
import { withRepository } from './release/withRepository.ts'

const top = join(import.meta.dirname, '..')

const fail = (why: string): never => {
  console.error(`release: ${why}`)
  process.exit(1)
}

const folder = process.argv[2] ?? fail('name the folder for the packages: npm run release:pack -- FOLDER')
const { version, members, changesets } = readReleaseGroup(top)
if (changesets.length > 0) {
  fail(`${changesets.length} changesets are waiting: run npm run release:version and commit the result first`)
}
if (version === '0.0.0') fail('there is no version to publish: npm run release:version creates it from changesets')
const changed = execFileSync('git', ['status', '--porcelain'], { cwd: top, encoding: 'utf8' }).trim()
if (changed !== '') fail(`commit these changes first:\n${changed}`)

const into = resolve(folder)
mkdirSync(into, { recursive: true })

// npm compares the signed provenance statement with `repository`. The sources do not contain it, because forks publish from their own repository.
const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env
const manifests = members.map(({ folder: path }) => ({ path, file: join(top, path, 'package.json') }))
const before = manifests.map(({ file }) => readFileSync(file, 'utf8'))
try {
  if (server !== undefined && repository !== undefined) {
    manifests.forEach(({ path, file }, index) =>
      writeFileSync(file, withRepository(before[index] ?? '', `${server}/${repository}`, path)),
    )
  }
  const filters = members.flatMap(({ manifest }) => ['--filter', manifest.name])
  const args = ['run', '--silent', 'pnpm', '--', '-r', ...filters, 'pack', '--pack-destination', into]
  const { status, error } = spawnSync('npm', args, {
    cwd: top,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (error) console.error(String(error))
  process.exitCode = status ?? 1
} finally {
  manifests.forEach(({ file }, index) => writeFileSync(file, before[index] ?? ''))
}
