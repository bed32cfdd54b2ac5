import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { arrows } from '../scripts/arrows.ts'
import { run } from './run.ts'

interface Cruised {
  readonly modules: readonly {
    readonly source: string
    readonly dependencies: readonly { readonly module: string; readonly resolved: string }[]
  }[]
  readonly summary: {
    readonly violations: readonly {
      readonly from: string
      readonly to: string
      readonly rule: { readonly name: string }
    }[]
  }
}

/** The result of a dependency-cruiser run. */
export interface Imports {
  /** All files that were read. */
  readonly files: readonly string[]
  /** `rule: from -> to` for each import that breaks a rule. */
  readonly problems: readonly string[]
}

/**
 * Checks imports against the rules of `.dependency-cruiser.cjs`.
 * @param root - The top of the workspace, or of a copy of it.
 * @param paths - The files and folders to check, relative to the top. Files that they import are checked too. @default ['packages', 'examples']
 */
export async function findImportProblems(
  root: string,
  paths: readonly string[] = ['packages', 'examples'],
): Promise<Imports> {
  const { stdout, stderr } = await run('depcruise', ['--output-type', 'json', ...paths], { cwd: root })
  if (!stdout.startsWith('{')) throw new Error(`dependency-cruiser failed: ${stderr}`)
  const { modules, summary } = JSON.parse(stdout) as Cruised
  const problems = summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)
  return {
    files: modules.map(({ source }) => source).filter((source) => source.startsWith('packages/')),
    problems: [...problems, ...findUndeclared(root, modules)].sort(),
  }
}

/** Finds imports of our own packages that are missing in the package.json of the importing package. */
function findUndeclared(root: string, modules: Cruised['modules']): string[] {
  const problems: string[] = []
  for (const { source, dependencies } of modules) {
    const folder = /^packages\/([^/]+)\//.exec(source)?.[1]
    if (folder === undefined) continue
    for (const { module, resolved } of dependencies) {
      const other = /^packages\/([^/]+)\//.exec(resolved)?.[1]
      if (other === undefined || other === folder || module.startsWith('.')) continue
      const manifest = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as {
        dependencies?: Record<string, string>
        devDependencies?: Record<string, string>
      }
      const isTest = /[.](test|test-d|bench)[.]tsx?$|^packages\/[^/]+\/test\//.test(source)
      const isOptional = arrows[folder]?.optional?.includes(other) === true
      const declared = { ...manifest.dependencies, ...(isTest || isOptional ? manifest.devDependencies : {}) }
      const name = arrows[other]?.name ?? other
      if (!(name in declared)) problems.push(`declared: ${source} -> ${resolved}`)
    }
  }
  return problems
}
