// Publishes every package whose version the registry does not have yet. With --dry-run, all but that. What else is given goes to pnpm.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readReleaseGroup } from './release/readReleaseGroup.ts'
import { withRepository } from './release/withRepository.ts'

const top = join(import.meta.dirname, '..')
const given = process.argv.slice(2)
const isDryRun = given.includes('--dry-run')

const refuse = (why: string): never => {
  console.error(`release: ${why}`)
  process.exit(1)
}

const { version, members, changesets } = readReleaseGroup(top)
if (changesets.length > 0) refuse(`${changesets.length} changesets wait: npm run release:version, and commit it, first`)
if (version === '0.0.0') refuse('there is no version to publish: npm run release:version makes it of changesets')
const changed = execFileSync('git', ['status', '--porcelain'], { cwd: top, encoding: 'utf8' }).trim()
if (changed !== '') refuse(`what is published is what is committed, and this is not:\n${changed}`)

// A signed statement of where a package was built is made where a workflow vouches for it, and the registry holds it against `repository`.
const isVouched = process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] !== undefined && !isDryRun
const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env

const manifests = members.map(({ folder }) => ({ folder, file: join(top, folder, 'package.json') }))
const before = manifests.map(({ file }) => readFileSync(file, 'utf8'))
try {
  if (server !== undefined && repository !== undefined) {
    manifests.forEach(({ folder, file }, index) =>
      writeFileSync(file, withRepository(before[index] ?? '', `${server}/${repository}`, folder)),
    )
  }
  // Who installs without naming a version never gets a pre-release.
  const tag = version.includes('-') ? 'next' : 'latest'
  const provenance = isVouched ? ['--provenance'] : []
  const words = ['-r', 'publish', '--access', 'public', '--tag', tag, '--no-git-checks', ...provenance]
  const pnpm = ['run', '--silent', 'pnpm', '--', ...words, ...given]
  const { status, error } = spawnSync('npm', pnpm, {
    cwd: top,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (error) console.error(String(error))
  process.exitCode = status ?? 1
} finally {
  manifests.forEach(({ file }, index) => writeFileSync(file, before[index] ?? ''))
}
