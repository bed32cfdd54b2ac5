import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Manifest } from './publishedPackages.ts'

/** A package as it would go to the registry. */
export interface Packed {
  /** The tarball. */
  readonly tarball: string
  /** The folder it was unpacked into. */
  readonly path: string
  readonly manifest: Manifest
  /** What it holds, in order, with `/` between names. */
  readonly files: readonly string[]
}

/**
 * Finds a package as it was packed before the tests began.
 * @param folder - Its folder under packages/.
 * @throws Where it could not be built or packed.
 */
export function packed(folder: string): Packed {
  const packedIn = inject('packedIn')
  const fault = inject('notPacked')[folder]
  if (fault !== undefined) throw new Error(fault)
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
 * The folder of a project in which the packed `@keyrail/core` and `@keyrail/fetch` are installed.
 * @throws Where they could not be built, packed or installed.
 */
export function installed(): string {
  for (const need of ['core', 'fetch', 'installed']) {
    const fault = inject('notPacked')[need]
    if (fault !== undefined) throw new Error(fault)
  }
  return inject('installedIn')
}
