import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkspacePackage } from './publishedPackages.ts'

/** The content of a changeset: the packages, the size of each bump, and the summary for users. */
export interface Changeset {
  readonly file: string
  readonly bumps: Readonly<Record<string, string>>
  readonly summary: string
}

/** Reads all unreleased changesets of a workspace. */
export function readChangesets(root: string): Changeset[] {
  return globSync('.changeset/*.md', { cwd: root })
    .sort()
    .map((file) => {
      const [, head = '', summary = ''] =
        /^---\n([\s\S]*?)\n?---\n([\s\S]*)$/.exec(readFileSync(join(root, file), 'utf8')) ?? []
      const bumps = [...head.matchAll(/^["']?([^"':\s]+)["']?: *(\S+)$/gm)].map(([, name = '', bump = '']) => [
        name,
        bump,
      ])
      return { file, bumps: Object.fromEntries(bumps) as Record<string, string>, summary: summary.trim() }
    })
}

/**
 * Finds published packages that changed without a changeset, and changesets that are empty or name something that does not exist.
 * @param packages - The published packages, and whether each has changed since its last release.
 * @param changesets - The unreleased changesets.
 * @returns One sentence per problem.
 */
export function findChangesetProblems(
  packages: readonly { readonly name: string; readonly changed: boolean }[],
  changesets: readonly Changeset[],
): string[] {
  const problems: string[] = []
  const described = new Set(changesets.flatMap(({ bumps }) => Object.keys(bumps)))
  for (const { name, changed } of packages) {
    if (changed && !described.has(name)) problems.push(`${name} changed, but has no changeset: npm run changeset`)
  }
  for (const { file, bumps, summary } of changesets) {
    for (const [name, bump] of Object.entries(bumps)) {
      if (!packages.some((published) => published.name === name))
        problems.push(`${file} names ${name}, which is not published`)
      if (!['major', 'minor', 'patch'].includes(bump)) problems.push(`${file} has the unknown bump ${bump} for ${name}`)
    }
    if (Object.keys(bumps).length === 0) problems.push(`${file} names no package`)
    if (!/`[^`]+`/.test(summary))
      problems.push(`${file} names no symbol: a sentence in the past tense with \`its name\``)
  }
  return problems
}

/**
 * Checks whether a package's shipped files have changed since its version was set. A package that was never released has changed.
 * @param root - The top of the workspace, a git repository.
 */
export function hasChangedSinceRelease(root: string, { folder, manifest }: WorkspacePackage): boolean {
  if (manifest.version === '0.0.0') return true
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const file = `packages/${folder}/package.json`
  const released = git('log', '-1', '--format=%H', `-G"version": "${manifest.version}"`, '--', file)
  const since =
    released === '' ? [] : git('diff', '--name-only', released, '--', `packages/${folder}/src`, file).split('\n')
  return since.some((path) => path !== '' && !/[.](test|test-d|bench)[.]tsx?$/.test(path))
}
