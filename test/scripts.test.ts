import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { workspacePackages } from './publishedPackages.ts'
import type { Manifest } from './publishedPackages.ts'
import { top } from './run.ts'

/** What npm and pnpm run by themselves is no word that anybody types. */
const isTyped = (word: string): boolean => !['prepack', 'prepublishOnly'].includes(word)

const root = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as Manifest

describe.each(workspacePackages)('the scripts of packages/$folder', ({ folder, manifest }) => {
  const scripts = manifest.scripts ?? {}
  const typed = Object.keys(scripts).filter(isTyped)

  test('use the words of the whole workspace', () => {
    expect(typed.filter((word) => !(word in (root.scripts ?? {})))).toEqual([])
  })

  test('can build what is published, see to types, test, and check all of it', () => {
    const words = [...(manifest.private ? [] : ['build']), 'types', 'test', 'check']
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(words))
    for (const word of typed.filter((name) => name !== 'check')) {
      expect(scripts['check'], folder).toContain(`npm run --silent ${word}`)
    }
  })
})

test.each(['start', 'test', 'soak', 'bench', 'peers', 'compile'])(
  'npm %s sets up first, and looks for Node only after that',
  (word) => {
    // A shell remembers where it found `node`: were set-up itself run by name, the machine's own Node would run what follows.
    expect(root.scripts?.[word]).toMatch(/^npm run --silent setup && /)
  },
)
