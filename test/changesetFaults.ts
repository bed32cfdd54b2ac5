import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkspacePackage } from './publishedPackages.ts'

/** A changeset as it is written: which packages, by how much, and what to tell their users. */
export interface Changeset {
  readonly file: string
  readonly bumps: Readonly<Record<string, string>>
  readonly summary: string
}

/** Every changeset of a workspace that waits for its release. */
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
 * Finds published packages that users would see change without a word, and changesets that say nothing or name what is not there.
 * @param packages - The published packages, with whether each changed since it was last released.
 * @param changesets - What waits for the release.
 * @returns One sentence per fault.
 */
export function changesetFaults(
  packages: readonly { readonly name: string; readonly changed: boolean }[],
  changesets: readonly Changeset[],
): string[] {
  const faults: string[] = []
  const told = new Set(changesets.flatMap(({ bumps }) => Object.keys(bumps)))
  for (const { name, changed } of packages) {
    if (changed && !told.has(name)) faults.push(`${name} changed, and no changeset tells its users: npm run changeset`)
  }
  for (const { file, bumps, summary } of changesets) {
    for (const [name, bump] of Object.entries(bumps)) {
      if (!packages.some((published) => published.name === name))
        faults.push(`${file} names ${name}, which is not published`)
      if (!['major', 'minor', 'patch'].includes(bump)) faults.push(`${file} asks for a ${bump} of ${name}`)
    }
    if (Object.keys(bumps).length === 0) faults.push(`${file} names no package`)
    if (!/`[^`]+`/.test(summary)) faults.push(`${file} names no symbol: a sentence in the past tense with \`its name\``)
  }
  return faults
}

/**
 * Tells whether a package's shipped files changed since its version was set. One that was never released has changed.
 * @param root - The top of the workspace, a git repository.
 */
export function changedSinceRelease(root: string, { folder, manifest }: WorkspacePackage): boolean {
  if (manifest.version === '0.0.0') return true
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const file = `packages/${folder}/package.json`
  const released = git('log', '-1', '--format=%H', `-G"version": "${manifest.version}"`, '--', file)
  const since =
    released === '' ? [] : git('diff', '--name-only', released, '--', `packages/${folder}/src`, file).split('\n')
  return since.some((path) => path !== '' && !/[.](test|test-d|bench)[.]tsx?$/.test(path))
}
