import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commands } from '../packages/cli/src/commandTable.ts'
import { top } from './run.ts'

const pages = ['docs/cli.md', 'docs/cli/logs.md'].map((file) => readFileSync(join(top, file), 'utf8')).join('\n')

test('the command line reference names every command and option', () => {
  expect(commands.length).toBeGreaterThan(10)
  const names = commands.flatMap(({ name, options }) => [
    `keyrail ${name}`,
    ...Object.keys(options).map((option) => `--${option}`),
  ])
  expect([...new Set(names)].filter((name) => !new RegExp(`${name}(?![\\w-])`).test(pages))).toEqual([])
})
