import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { top } from './run.ts'

/** A value in `exports` or `imports`. */
export type Target = string | { readonly [condition: string]: Target }

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly type?: string
  readonly exports?: Readonly<Record<string, Target>>
  readonly imports?: Readonly<Record<string, Target>>
  readonly bin?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export interface WorkspacePackage {
  /** The name of its folder in packages/. */
  readonly folder: string
  /** The path of that folder. */
  readonly path: string
  readonly manifest: Manifest
}

/** All packages of the workspace, sorted by folder. */
export const workspacePackages: readonly WorkspacePackage[] = globSync('packages/*/package.json', { cwd: top })
  .sort()
  .map((file) => ({
    folder: file.split(/[/\\]/)[1] as string,
    path: join(top, dirname(file)),
    manifest: JSON.parse(readFileSync(join(top, file), 'utf8')) as Manifest,
  }))

/** All published packages. */
export const publishedPackages: readonly WorkspacePackage[] = workspacePackages.filter(
  ({ manifest }) => !manifest.private,
)
