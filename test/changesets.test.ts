import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { changedSinceRelease, changesetFaults, readChangesets } from './changesetFaults.ts'
import { publishedPackages } from './publishedPackages.ts'
import { top } from './run.ts'

test('every published package that changed has a changeset, and every changeset says something', () => {
  const packages = publishedPackages.map((which) => ({
    name: which.manifest.name,
    changed: changedSinceRelease(top, which),
  }))
  expect(changesetFaults(packages, readChangesets(top))).toEqual([])
})

describe('the check of changesets', () => {
  const one = { file: 'a.md', bumps: { core: 'minor' }, summary: 'Core gained `http`.' }

  test('tells of a change without a changeset, and of nothing where there is none', () => {
    const packages = [
      { name: 'core', changed: true },
      { name: 'fetch', changed: true },
      { name: 'cli', changed: false },
    ]
    expect(changesetFaults(packages, [one])).toEqual([
      'fetch changed, and no changeset tells its users: npm run changeset',
    ])
  })

  test('tells of a changeset that names no package, an unknown one, an unknown step or no symbol', () => {
    const packages = [{ name: 'core', changed: true }]
    const wrong = { file: 'b.md', bumps: { kore: 'minor', core: 'big' }, summary: 'Things are better.' }
    expect(changesetFaults(packages, [one, wrong, { file: 'c.md', bumps: {}, summary: '`x`' }])).toEqual([
      'b.md names kore, which is not published',
      'b.md asks for a big of core',
      'b.md names no symbol: a sentence in the past tense with `its name`',
      'c.md names no package',
    ])
  })

  test('sees what changed since a version was set: sources, not tests', () => {
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
    const core = (version: string): Parameters<typeof changedSinceRelease>[1] => ({
      folder: 'core',
      path: join(root, 'packages/core'),
      manifest: { name: 'core', version },
    })
    git('init')
    commit('src/a.ts', '1')
    commit('package.json', '{\n  "version": "1.0.0"\n}\n')
    expect(changedSinceRelease(root, core('1.0.0'))).toBe(false)
    commit('src/a.test.ts', '1')
    expect(changedSinceRelease(root, core('1.0.0'))).toBe(false)
    commit('src/a.ts', '2')
    expect(changedSinceRelease(root, core('1.0.0'))).toBe(true)
    commit('package.json', '{\n  "version": "1.1.0"\n}\n')
    expect(changedSinceRelease(root, core('1.1.0'))).toBe(false)
    expect(changedSinceRelease(root, core('0.0.0'))).toBe(true)
    rmSync(root, { recursive: true })
  })
})
