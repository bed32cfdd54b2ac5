import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes the changelog: the changes since the last release by package, from the changesets. Releases follow, from the changelogs of the packages.
 * @param top - The top of the workspace.
 * @returns Markdown.
 */
export function changelogPage(top: string): string {
  const changes = new Map<string, string[]>()
  for (const file of globSync('.changeset/*.md', { cwd: top }).sort()) {
    const [, header = '', text = ''] =
      /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(readFileSync(join(top, file), 'utf8')) ?? []
    const names = [...header.matchAll(/^['"](.+)['"]: \w+$/gm)].map(([, name = '']) => name)
    // A change of several packages is listed once.
    const name = names.length > 2 ? 'Several packages' : names.join(' and ')
    changes.set(name, [...(changes.get(name) ?? []), `- ${text.trim().replaceAll('\n', '\n  ')}`])
  }
  const unreleased = [...changes]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, items]) => `### ${name}\n\n${items.join('\n')}`)
  const released = globSync('packages/*/CHANGELOG.md', { cwd: top })
    .sort()
    .map((file) => readFileSync(join(top, file), 'utf8').trim().replaceAll(/^#/gm, '##'))
  const about = 'What changed in each release, by package. All packages have the same version.'
  return ['# Changelog', about, '## Unreleased', ...unreleased, ...released, ''].join('\n\n')
}
