import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { top } from './run.ts'

const folder = join(top, 'docs/decisions')

test('the index of decisions lists each decision once, by its title', () => {
  const listed = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/^- \[(.+?)\]\((.+?)\)/gm)].map(
    ([, title = '', file = '']) => [file, title] as const,
  )
  const decisions = globSync('0*.md', { cwd: folder }).map(
    (file) => [file, /^# (.+)$/m.exec(readFileSync(join(folder, file), 'utf8'))?.[1]] as const,
  )
  expect(decisions.length).toBeGreaterThan(20)
  expect(new Map(listed)).toEqual(new Map(decisions))
  expect(listed).toHaveLength(decisions.length)
})
