// A release without the upload, from a clone of the last commit. It runs the steps of .github/workflows/release.yml: set-up, build, next version,
// pack, and publish with --dry-run. Then it prints what would be published. Uncommitted changes have no effect. KEYRAIL_KEEP=1 preserves the clone.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readReleaseGroup } from './release/readReleaseGroup.ts'

const top = join(import.meta.dirname, '..')
const room = mkdtempSync(join(tmpdir(), 'keyrail-release-'))
const clone = join(room, 'keyrail')

/** Runs a command in the clone and returns its output. Standard error is passed through. Throws if the command fails. */
const step = (title: string, command: string, ...args: readonly string[]): string => {
  console.error(`release: ${title}`)
  const startedAt = performance.now()
  const cwd = existsSync(clone) ? clone : room
  const { status, error, stdout } = spawnSync(command, args, { cwd, stdio: ['ignore', 'pipe', 2], encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`release: "${title}" failed with exit code ${status}\n${stdout}`)
  console.error(`release: … took ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
  return stdout
}

const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim()
const formatSize = (bytes: number): string => `${Math.round(bytes / 1_000)} kB`

try {
  step('clone the last commit', 'git', 'clone', '--quiet', '--no-hardlinks', top, clone)
  step('set up', 'npm', 'run', '--silent', 'setup')
  step('build', 'npm', 'run', '--silent', 'build')
  // Without changesets, the current version would be published.
  const hasChangesets = readReleaseGroup(clone).changesets.length > 0
  if (hasChangesets) step('set the version', 'npm', 'run', '--silent', 'release:version')
  const changed = git('status', '--porcelain')
  if (hasChangesets) {
    git('add', '--all')
    const author = ['-c', 'user.name=dry-run', '-c', 'user.email=dry-run@localhost']
    git(...author, 'commit', '--quiet', '--message', 'The version of a dry run')
  }
  // The variables that GitHub sets, so that the manifests are the same as in a real release.
  process.env['GITHUB_SERVER_URL'] ??= 'https://github.com'
  process.env['GITHUB_REPOSITORY'] ??= 'testKey/keyrail'
  const packages = join(room, 'packages')
  step('pack', 'npm', 'run', '--silent', 'release:pack', '--', packages)
  const leftovers = git('status', '--porcelain')
  if (leftovers !== '') throw new Error(`release: packing changed files:\n${leftovers}`)
  step('publish without the upload', 'node', 'scripts/releasePublish.ts', packages, '--dry-run')

  if (changed !== '') console.log(`The version changes:\n ${changed}\n`)
  console.log('Packages for npm:')
  for (const file of globSync('*.tgz', { cwd: packages }).sort()) {
    const path = join(packages, file)
    const files = execFileSync('tar', ['-tzf', path], { encoding: 'utf8' }).trim().split('\n')
    console.log(`  ${file}: ${files.length} files, ${formatSize(statSync(path).size)}`)
  }

  const dist = join(room, 'dist')
  // The virtual environment of the Python tests contains the build tools. Without it, the Python package is skipped.
  const python = join(top, 'packages/python/.venv/bin/python')
  if (existsSync(python)) {
    step('build the Python package', python, '-m', 'build', '--no-isolation', '--outdir', dist, 'packages/python')
    console.log('\nPackage for Python:')
    for (const file of globSync(['*.whl', '*.tar.gz'], { cwd: dist }).sort())
      console.log(`  ${file}: ${formatSize(statSync(join(dist, file)).size)}`)
  } else
    console.log(
      '\nPackage for Python: skipped, because packages/python/.venv is missing. To create it, run the Python tests.',
    )
} finally {
  if (process.env['KEYRAIL_KEEP'] === '1') console.error(`release: the clone is in ${room}`)
  else rmSync(room, { recursive: true, force: true })
}
