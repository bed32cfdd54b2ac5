// Publishes the packages of releasePack.ts unchanged: node scripts/releasePublish.ts FOLDER. Any other arguments go to npm,
// such as --dry-run or --otp=123456. It installs nothing, builds nothing and runs no package's scripts, because it may have the right to publish.
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readReleaseGroup } from './release/readReleaseGroup.ts'

interface Tarball {
  readonly path: string
  readonly name: string
  readonly version: string
}

const fail = (why: string): never => {
  console.error(`release: ${why}`)
  process.exit(1)
}

const [given = fail('name the folder of the packages: npm run release:publish -- FOLDER'), ...options] =
  process.argv.slice(2)
const folder = resolve(given)
const shell = process.platform === 'win32'

const readTarball = (file: string): Tarball => {
  const path = join(folder, file)
  const text = execFileSync('tar', ['-xzOf', path, 'package/package.json'], { encoding: 'utf8' })
  return { path, ...(JSON.parse(text) as { name: string; version: string }) }
}

/** Returns whether the registry has this version. If a run stops halfway, the next one skips these. */
const isPublished = (id: string): boolean => {
  const { stdout, stderr } = spawnSync('npm', ['view', id, 'version', '--json'], { encoding: 'utf8', shell })
  const result: unknown = stdout.trim() === '' ? undefined : JSON.parse(stdout)
  if (result === undefined || typeof result === 'string') return typeof result === 'string'
  const { error } = result as { error?: { code?: string } }
  return error?.code === 'E404' ? false : fail(`npm could not look up ${id}:\n${stderr}`)
}

const { version, members } = readReleaseGroup(join(import.meta.dirname, '..'))
const expected = members.map(({ manifest }) => `${manifest.name}@${version}`).sort()
// By name: @keyrail/core is first, the others depend only on it, and keyrail, which depends on them, is last.
const tarballs = globSync('*.tgz', { cwd: folder })
  .map(readTarball)
  .sort((one, other) => (one.name < other.name ? -1 : 1))
const found = tarballs.map((tarball) => `${tarball.name}@${tarball.version}`)
if (found.join() !== expected.join()) {
  fail(
    `${folder} must hold exactly the packages of this release.\nfound:    ${found.join(', ')}\nexpected: ${expected.join(', ')}`,
  )
}

// npm install without a version must never install a pre-release.
const tag = version.includes('-') ? 'next' : 'latest'
// With `id-token: write`, GitHub confirms the identity of the workflow, and npm adds signed provenance to the package.
const canProve = process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] !== undefined && !options.includes('--dry-run')
const fixed = ['--ignore-scripts', '--access', 'public', '--tag', tag, ...(canProve ? ['--provenance'] : [])]

for (const { path, name } of tarballs) {
  const id = `${name}@${version}`
  if (isPublished(id)) {
    console.error(`release: ${id} is in the registry already`)
    continue
  }
  const { status, error } = spawnSync('npm', ['publish', path, ...fixed, ...options], { stdio: 'inherit', shell })
  if (error) console.error(String(error))
  if (status !== 0) fail(`${id} could not be published; run this again to publish it and those after it`)
}
