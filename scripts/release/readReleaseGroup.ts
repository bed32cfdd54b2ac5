import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The fields of a package.json that a release uses. */
export interface ReleasedManifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
}

/** The packages that are released together, with the state of the release. */
export interface ReleaseGroup {
  /** The version of all packages. */
  readonly version: string
  /** Their folders and manifests, by folder. */
  readonly members: readonly { readonly folder: string; readonly manifest: ReleasedManifest }[]
  /** The files in .changeset/ for the next release: changesets, and pre.json if pre-release mode ends. */
  readonly changesets: readonly string[]
}

/**
 * Reads the published packages of a workspace, their version and the changesets.
 * @param top - The top of the workspace.
 * @throws If published packages have different versions.
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
    throw new Error(`published packages must have one version, not ${versions.join(', ') || 'none'}`)
  }
  return { version, members, changesets: readChangesets(join(top, '.changeset')) }
}

function readChangesets(folder: string): string[] {
  if (!existsSync(folder)) return []
  const changesets = globSync('*.md', { cwd: folder }).filter((file) => file !== 'README.md')
  const pre = join(folder, 'pre.json')
  const ends = existsSync(pre) && (JSON.parse(readFileSync(pre, 'utf8')) as { mode: string }).mode === 'exit'
  return [...changesets, ...(ends ? ['pre.json'] : [])].sort()
}
