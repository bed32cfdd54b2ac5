// A release without its upload, from a clone of what is committed. It takes the steps of .github/workflows/release.yml: sets up, makes the version,
// builds, packs, and publishes the packed files with --dry-run. Shows what would go out.
// Whatever stands in the working tree beside it plays no part. KEYRAIL_KEEP=1 leaves the clone.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readReleaseGroup } from './release/readReleaseGroup.ts'

const top = join(import.meta.dirname, '..')
const room = mkdtempSync(join(tmpdir(), 'keyrail-release-'))
const clone = join(room, 'keyrail')

/** Runs a command in the clone and gives what it printed. Its words stand on standard error. Stops the rehearsal where it fails. */
const step = (what: string, command: string, ...args: readonly string[]): string => {
  console.error(`release: ${what}`)
  const began = performance.now()
  const cwd = existsSync(clone) ? clone : room
  const { status, error, stdout } = spawnSync(command, args, { cwd, stdio: ['ignore', 'pipe', 2], encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`release: to ${what} failed, with exit code ${status}\n${stdout}`)
  console.error(`release: … took ${((performance.now() - began) / 1_000).toFixed(1)} s`)
  return stdout
}

const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim()
const said = (bytes: number): string => `${Math.round(bytes / 1_000)} kB`

try {
  step('clone what is committed', 'git', 'clone', '--quiet', '--no-hardlinks', top, clone)
  step('set up', 'npm', 'run', '--silent', 'setup')
  step('build', 'npm', 'run', '--silent', 'build')
  // After a release nothing waits, and the version that stands is the one that would go out.
  const waits = readReleaseGroup(clone).changesets.length > 0
  if (waits) step('make the version', 'npm', 'run', '--silent', 'release:version')
  const changed = git('status', '--porcelain')
  if (waits) {
    git('add', '--all')
    const author = ['-c', 'user.name=rehearsal', '-c', 'user.email=rehearsal@localhost']
    git(...author, 'commit', '--quiet', '--message', 'The version of a rehearsal')
  }
  // As GitHub would have it, so that the manifests are tried as they would be published.
  process.env['GITHUB_SERVER_URL'] ??= 'https://github.com'
  process.env['GITHUB_REPOSITORY'] ??= 'testKey/keyrail'
  const packages = join(room, 'packages')
  step('pack', 'npm', 'run', '--silent', 'release:pack', '--', packages)
  const left = git('status', '--porcelain')
  if (left !== '') throw new Error(`release: packing left behind\n${left}`)
  step('publish, but for the upload', 'node', 'scripts/releasePublish.ts', packages, '--dry-run')

  if (changed !== '') console.log(`The version changes:\n ${changed}\n`)
  console.log('npm would get:')
  for (const file of globSync('*.tgz', { cwd: packages }).sort()) {
    const path = join(packages, file)
    const files = execFileSync('tar', ['-tzf', path], { encoding: 'utf8' }).trim().split('\n')
    console.log(`  ${file}: ${files.length} files, ${said(statSync(path).size)}`)
  }

  const dist = join(room, 'dist')
  // The environment of the tests has what builds it; without one, that part is left out and says so.
  const python = join(top, 'packages/python/.venv/bin/python')
  if (existsSync(python)) {
    step('build the Python package', python, '-m', 'build', '--no-isolation', '--outdir', dist, 'packages/python')
    console.log('\nThe one of Python:')
    for (const file of globSync(['*.whl', '*.tar.gz'], { cwd: dist }).sort())
      console.log(`  ${file}: ${said(statSync(join(dist, file)).size)}`)
  } else console.log('\nPython: left out, there is no packages/python/.venv; its tests make it')
} finally {
  if (process.env['KEYRAIL_KEEP'] === '1') console.error(`release: the clone is in ${room}`)
  else rmSync(room, { recursive: true, force: true })
}
