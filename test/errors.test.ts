import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findErrorMessages } from './findErrorMessages.ts'
import { top } from './run.ts'

const packages = ['core', 'fetch', 'ethers', 'web3', 'viem', 'msw', 'cli']

const howToUpdate =
  'The error messages have changed. Read them as a user would, then update the file: npm run unit -- -u --project workspace test/errors.test.ts'

const readSources = (name: string): { readonly path: string; readonly text: string }[] => {
  const folder = join(top, 'packages', name, 'src')
  return globSync('**/*.ts', { cwd: folder })
    .filter((path) => !/[.]test(-d)?[.]ts$/.test(path))
    .toSorted()
    .map((path) => ({ path: relative('', path), text: readFileSync(join(folder, path), 'utf8') }))
}

test('all error messages match errors.txt', async () => {
  const parts = packages.map((name) => {
    const files = findErrorMessages(readSources(name))
    const lines = files.flatMap(({ path, messages }) => [
      `  ${path}`,
      ...messages.map((message) => `    ${message}`),
      '',
    ])
    return `packages/${name}/src\n\n${lines.join('\n')}`
  })
  expect(parts.length).toBe(packages.length)
  await expect(parts.join('\n'), howToUpdate).toMatchFileSnapshot('errors.txt')
})

describe('finds a message', () => {
  const find = (text: string, ...others: string[]): string[] =>
    findErrorMessages([
      { path: 'one.ts', text },
      ...others.map((other, at) => ({ path: `other${at}.ts`, text: other })),
    ]).flatMap(({ messages }) => messages)

  test.each<[string, string[], string[]]>([
    ['in a constructor', ["throw new TypeError('the port is in use')"], ['the port is in use']],
    ['in a template', ['throw new Error(`port ${port} is in use`)'], ['port ${port} is in use']],
    ['in parts', ["throw new Error('port ' + port + ' is in use')"], ['port ${port} is in use']],
    ['in both branches', ["throw new Error(busy ? 'in use' : `closed ${why}`)"], ['in use', 'closed ${why}']],
    ['in a const', ["const text = 'in use'; throw new Error(text)"], ['in use']],
    ['in a class of its own', ["class Rejected extends Error {} throw new Rejected('in use')"], ['in use']],
    [
      'through functions that pass it on',
      [
        "const fail = (n: number, message: string) => wrong(message); fail(1, 'in use')",
        'export function wrong(text: string, more?: string) { return new KeyrailError(text, {}) }',
      ],
      ['in use'],
    ],
    [
      'in the facts of a failure',
      ["done({ kind: 'network', text: 'the connection broke' })"],
      ['the connection broke'],
    ],
    ['in a hint', ["new CliError('in use', { hint: 'use --port' })"], ['in use', 'hint: use --port']],
    [
      'in a function of another file that a template calls',
      [
        'throw new Error(`url ${describeProblem(url)}`)',
        "export const describeProblem = (url) => { return 'is empty' }",
      ],
      ['url ${describeProblem(url)}', 'is empty'],
    ],
  ])('%s', (_name, sources, messages) => {
    expect(find(...(sources as [string]))).toEqual(messages)
  })

  test.each([
    ['a text that is not an error', "console.log('listening'); const text = 'hello'"],
    ['a message without text', 'throw new Error(`${message}`)'],
  ])('but not %s', (_name, source) => {
    expect(find(source)).toEqual([])
  })
})
