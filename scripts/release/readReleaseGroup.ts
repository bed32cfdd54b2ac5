import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

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
  /** The files in .changeset/ that wait for a release. */
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
  const folder = join(top, '.changeset')
  const changesets = existsSync(folder)
    ? globSync('*.md', { cwd: folder })
        .filter((file) => basename(file) !== 'README.md')
        .sort()
    : []
  return { version, members, changesets }
}
