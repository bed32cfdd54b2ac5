import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { top } from './run.ts'

/** What can stand at a key of `exports` or `imports`. */
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
  /** Its folder under packages/. */
  readonly folder: string
  /** Where that is. */
  readonly path: string
  readonly manifest: Manifest
}

/** Every package of the workspace, by folder. */
export const workspacePackages: readonly WorkspacePackage[] = globSync('packages/*/package.json', { cwd: top })
  .sort()
  .map((file) => ({
    folder: file.split(/[/\\]/)[1] as string,
    path: join(top, dirname(file)),
    manifest: JSON.parse(readFileSync(join(top, file), 'utf8')) as Manifest,
  }))

/** Those that go to the registry. */
export const publishedPackages: readonly WorkspacePackage[] = workspacePackages.filter(
  ({ manifest }) => !manifest.private,
)
