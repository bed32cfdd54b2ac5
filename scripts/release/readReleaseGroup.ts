import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What of a package.json a release reads. */
export interface ReleasedManifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
}

/** The packages that are released together, and where they stand. */
export interface ReleaseGroup {
  /** The one version of all of them. */
  readonly version: string
  /** Their folders and manifests, by folder. */
  readonly members: readonly { readonly folder: string; readonly manifest: ReleasedManifest }[]
  /** The files in .changeset/ that wait for a release: changesets, and pre.json where a row of pre-releases is to end. */
  readonly changesets: readonly string[]
}

/**
 * Reads what a release of a workspace is about.
 * @param top - The top of the workspace.
 * @throws Where two published packages differ in version: they are one group.
 */
export function readReleaseGroup(top: string): ReleaseGroup {
  const members = globSync('packages/*/package.json', { cwd: top })
    .sort()
    .map((file) => ({
      folder: dirname(file),
      manifest: JSON.parse(readFileSync(join(top, file), 'utf8')) as ReleasedManifest,
    }))
    .filter(({ manifest }) => manifest.private !== true)
  const versions = [...new Set(members.map(({ manifest }) => manifest.version))]
  const [version] = versions
  if (version === undefined || versions.length > 1) {
    throw new Error(`published packages have one version, not ${versions.join(', ') || 'none'}`)
  }
  return { version, members, changesets: waiting(join(top, '.changeset')) }
}

function waiting(folder: string): string[] {
  if (!existsSync(folder)) return []
  const changesets = globSync('*.md', { cwd: folder }).filter((file) => file !== 'README.md')
  const pre = join(folder, 'pre.json')
  const ends = existsSync(pre) && (JSON.parse(readFileSync(pre, 'utf8')) as { mode: string }).mode === 'exit'
  return [...changesets, ...(ends ? ['pre.json'] : [])].sort()
}
