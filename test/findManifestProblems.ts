import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PackageArrows } from '../scripts/arrows.ts'

type Versions = Readonly<Record<string, string>>

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly dependencies?: Versions
  readonly devDependencies?: Versions
  readonly peerDependencies?: Versions
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/**
 * Compares every package.json under packages/ with the table of arrows.
 * @param root - The top of the workspace.
 * @param arrows - The table, by folder under packages/.
 * @returns One sentence per problem.
 */
export function findManifestProblems(root: string, arrows: Readonly<Record<string, PackageArrows>>): string[] {
  const problems: string[] = []
  const folders = new Map(Object.entries(arrows).map(([folder, { name }]) => [name, folder]))
  const dependencies = new Map<string, string[]>()

  for (const folder of readdirSync(join(root, 'packages')).sort()) {
    const path = join(root, 'packages', folder, 'package.json')
    if (!existsSync(path)) continue
    const may = arrows[folder]
    if (may === undefined) {
      problems.push(`packages/${folder} is not in the table of scripts/arrows.ts`)
      continue
    }
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
    const of = (versions: Versions | undefined): string[] => Object.keys(versions ?? {})
    const ours = (versions: Versions | undefined): string[] => of(versions).filter((name) => folders.has(name))
    const foreign = (versions: Versions | undefined): string[] => of(versions).filter((name) => !folders.has(name))

    if (manifest.name !== may.name) problems.push(`packages/${folder} is named ${manifest.name}, not ${may.name}`)
    for (const name of ours(manifest.dependencies)) {
      if (may.optional?.includes(folders.get(name) as string))
        problems.push(`${folder} may not depend on ${name}, which is optional`)
      if (!may.imports.includes(folders.get(name) as string)) problems.push(`${folder} may not depend on ${name}`)
    }
    for (const name of ours(manifest.devDependencies)) {
      const other = folders.get(name) as string
      if (!may.imports.includes(other) && !may.inTests.includes(other)) {
        problems.push(`tests of ${folder} may not depend on ${name}`)
      }
    }
    for (const name of ours(manifest.peerDependencies))
      problems.push(`${folder} may not have our own ${name} as a peer`)
    for (const [name, version] of [
      ...Object.entries(manifest.dependencies ?? {}),
      ...Object.entries(manifest.devDependencies ?? {}),
    ]) {
      if (folders.has(name) && !version.startsWith('workspace:')) {
        problems.push(`${folder} takes ${name} from the registry (${version}), not from the workspace`)
      }
    }
    const added = foreign(manifest.dependencies).filter((name) => !may.dependencies.includes(name))
    for (const name of added) problems.push(`${folder} may not depend on ${name}`)
    const peers = foreign(manifest.peerDependencies).filter((name) => !may.peers.includes(name))
    for (const name of peers) problems.push(`${folder} may not have ${name} as a peer`)

    dependencies.set(folder, [
      ...new Set(
        [...ours(manifest.dependencies), ...ours(manifest.devDependencies)].map((name) => folders.get(name) as string),
      ),
    ])
  }

  const walk = (folder: string, path: readonly string[]): void => {
    if (path.includes(folder)) {
      const loop = [...path.slice(path.indexOf(folder)), folder]
      // The walk finds a loop from each of its members. It is reported once, from the first member by name.
      if (loop[0] === [...loop].sort()[0]) problems.push(`packages form a loop: ${loop.join(' -> ')}`)
      return
    }
    for (const other of dependencies.get(folder) ?? []) walk(other, [...path, folder])
  }
  for (const folder of dependencies.keys()) walk(folder, [])
  return [...new Set(problems)]
}
