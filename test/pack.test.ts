import { expect, test } from 'vitest'
import { run } from './run.ts'

test.each([
  ['a package that does not exist', ['packed', 'fech'], /^There is no package fech[.] The packages: .*\bfetch\b/],
  ['no package', ['packed'], /^Name a folder, and the packages/],
])('npm run pack rejects %s, and shows how to use it', async (_what, words, message) => {
  const output = await run('node', ['scripts/pack.ts', ...words])
  expect(output).toMatchObject({ code: 1, stdout: '' })
  expect(output.stderr).toMatch(message)
  expect(output.stderr).toContain('npm run pack -- ~/my-project fetch')
})
