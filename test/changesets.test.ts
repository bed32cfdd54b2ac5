import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findChangesetProblems, hasChangedSinceRelease, readChangesets } from './findChangesetProblems.ts'
import { publishedPackages } from './publishedPackages.ts'
import { top } from './run.ts'

test('every published package that changed has a changeset, and every changeset is valid', () => {
  const packages = publishedPackages.map((which) => ({
    name: which.manifest.name,
    changed: hasChangedSinceRelease(top, which),
  }))
  expect(findChangesetProblems(packages, readChangesets(top))).toEqual([])
})

describe('the changeset checker', () => {
  const one = { file: 'a.md', bumps: { core: 'minor' }, summary: 'Core gained `http`.' }

  test('reports a package that changed without a changeset, and no others', () => {
    const packages = [
      { name: 'core', changed: true },
      { name: 'fetch', changed: true },
      { name: 'cli', changed: false },
    ]
    expect(findChangesetProblems(packages, [one])).toEqual(['fetch changed, but has no changeset: npm run changeset'])
  })

  test('reports a changeset with no package, an unknown package, an unknown bump or no symbol', () => {
    const packages = [{ name: 'core', changed: true }]
    const wrong = { file: 'b.md', bumps: { kore: 'minor', core: 'big' }, summary: 'Things are better.' }
    expect(findChangesetProblems(packages, [one, wrong, { file: 'c.md', bumps: {}, summary: '`x`' }])).toEqual([
      'b.md names kore, which is not published',
      'b.md has the unknown bump big for core',
      'b.md names no symbol: a sentence in the past tense with `its name`',
      'c.md names no package',
    ])
  })

  test('detects changes since a version was set, in sources but not in tests', () => {
    const root = mkdtempSync(join(tmpdir(), 'keyrail-changesets-'))
    const git = (...args: string[]): unknown =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root, stdio: 'ignore' })
    const commit = (file: string, text: string): void => {
      const path = join(root, 'packages/core', file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
      git('add', '.')
      git('commit', '-m', file)
    }
    const core = (version: string): Parameters<typeof hasChangedSinceRelease>[1] => ({
      folder: 'core',
      path: join(root, 'packages/core'),
      manifest: { name: 'core', version },
    })
    git('init')
    commit('src/a.ts', '1')
    commit('package.json', '{\n  "version": "1.0.0"\n}\n')
    expect(hasChangedSinceRelease(root, core('1.0.0'))).toBe(false)
    commit('src/a.test.ts', '1')
    expect(hasChangedSinceRelease(root, core('1.0.0'))).toBe(false)
    commit('src/a.ts', '2')
    expect(hasChangedSinceRelease(root, core('1.0.0'))).toBe(true)
    commit('package.json', '{\n  "version": "1.1.0"\n}\n')
    expect(hasChangedSinceRelease(root, core('1.1.0'))).toBe(false)
    expect(hasChangedSinceRelease(root, core('0.0.0'))).toBe(true)
    rmSync(root, { recursive: true })
  })
})
