// A release without its upload, from a clone of what is committed: sets up, builds, makes the version, packs, and shows what would go out.
// Whatever stands in the working tree beside it plays no part. KEYRAIL_KEEP=1 leaves the clone.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { readReleaseGroup } from './release/readReleaseGroup.ts'

const top = join(import.meta.dirname, '..')
const room = mkdtempSync(join(tmpdir(), 'keyrail-release-'))
const clone = join(room, 'keyrail')

/** Runs a command in the clone, its words on standard error, and stops the rehearsal where it fails. */
const step = (what: string, command: string, ...args: readonly string[]): void => {
  console.error(`release: ${what}`)
  const began = performance.now()
  const stdio = ['ignore', 2, 2] as const
  const { status, error } = spawnSync(command, args, { cwd: existsSync(clone) ? clone : room, stdio: [...stdio] })
  if (error) throw error
  if (status !== 0) throw new Error(`release: to ${what} failed, with exit code ${status}`)
  console.error(`release: … took ${((performance.now() - began) / 1_000).toFixed(1)} s`)
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
  process.env['GITHUB_REPOSITORY'] ??= 'rehearsal/keyrail'
  step('publish, but for the upload', 'npm', 'run', '--silent', 'release:publish', '--', '--dry-run')
  if (git('status', '--porcelain') !== '')
    throw new Error(`release: publishing left behind\n${git('status', '--short')}`)

  const { version, members } = readReleaseGroup(clone)
  const packedIn = join(room, 'packed')
  mkdirSync(packedIn)
  for (const { folder } of members) {
    step(
      `pack ${folder}`,
      'npm',
      'run',
      '--silent',
      'pnpm',
      '--',
      '--dir',
      folder,
      'pack',
      '--pack-destination',
      packedIn,
    )
  }
  console.log(`keyrail ${version}\n\nThe version changes:\n${changed}\n\nThe registry of npm would get:`)
  for (const tarball of globSync('*.tgz', { cwd: packedIn }).sort()) {
    const files = execFileSync('tar', ['-tzf', join(packedIn, tarball)], { encoding: 'utf8' })
      .trim()
      .split('\n')
    console.log(`  ${tarball}  ${files.length} files, ${said(statSync(join(packedIn, tarball)).size)}`)
  }
  // The environment of the tests has what builds it; without one, that part is left out and says so.
  const python = join(top, 'packages/python/.venv/bin/python')
  if (existsSync(python)) {
    step('build the Python package', python, '-m', 'build', '--no-isolation', '--outdir', packedIn, 'packages/python')
    console.log('\nThe one of Python:')
    for (const file of globSync(['*.whl', '*.tar.gz'], { cwd: packedIn }).sort())
      console.log(`  ${basename(file)}  ${said(statSync(join(packedIn, file)).size)}`)
  } else console.log('\nPython: left out, there is no packages/python/.venv; its tests make it')
} finally {
  if (process.env['KEYRAIL_KEEP'] === '1') console.error(`release: the clone is in ${room}`)
  else rmSync(room, { recursive: true, force: true })
}
