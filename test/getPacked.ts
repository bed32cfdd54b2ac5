import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Manifest } from './publishedPackages.ts'

/** A package as it would be published. */
export interface Packed {
  /** The path of the tarball. */
  readonly tarball: string
  /** The folder with the unpacked tarball. */
  readonly path: string
  readonly manifest: Manifest
  /** The paths of its files, sorted. */
  readonly files: readonly string[]
}

/**
 * Returns a package that was packed before the tests.
 * @param folder - Its folder under packages/.
 * @throws If it could not be built or packed.
 */
export function getPacked(folder: string): Packed {
  const packedIn = inject('packedIn')
  const problem = inject('notPacked')[folder]
  if (problem !== undefined) throw new Error(problem)
  const path = join(packedIn, folder)
  return {
    tarball: `${path}.tgz`,
    path,
    manifest: JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest,
    files: globSync('**', { cwd: path, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
      .sort(),
  }
}

/**
 * Returns the folder of a project with the packed `@keyrail/core` and `@keyrail/fetch` installed.
 * @throws If they could not be built, packed or installed.
 */
export function getInstalled(): string {
  for (const need of ['core', 'fetch', 'installed']) {
    const problem = inject('notPacked')[need]
    if (problem !== undefined) throw new Error(problem)
  }
  return inject('installedIn')
}
