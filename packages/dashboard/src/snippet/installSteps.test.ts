import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { getInstallSteps } from './installSteps.ts'

const npm = 'npm install @keyrail/core @keyrail/viem viem@2'
const getCommands = (install: string, published: readonly string[] = []): readonly string[] =>
  getInstallSteps(install, published).map(({ command }) => command)

test('shows the install command if the registries have all packages of Keyrail in it', () => {
  expect(getInstallSteps(npm, ['@keyrail/core', '@keyrail/viem'])).toEqual([{ command: npm }])
  expect(getInstallSteps('npm install viem@2', [])).toEqual([{ command: 'npm install viem@2' }])
  expect(getInstallSteps('pip install keyrail web3', ['keyrail'])).toEqual([{ command: 'pip install keyrail web3' }])
})

test('packs unpublished packages in the repository', () => {
  expect(getInstallSteps(npm, ['@keyrail/core'])).toEqual([
    { where: 'in the folder of Keyrail', command: 'npm run pack -- ~/my-project viem' },
    { where: 'in your project', command: 'npm install ./*.tgz viem@2' },
  ])
})

test('while nothing is published, the install steps of Setup are those of the README', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../../README.md'), 'utf8')
  for (const command of getCommands('npm install @keyrail/core @keyrail/fetch'))
    expect(readme).toContain(`${command}\n`)
  // The README leaves the version to npm.
  expect(readme).toContain(getCommands(npm)[1]?.replace('@2', ''))
  expect(readme).toMatch(/pip install (?:\S*\/)?packages\/python\b/)
  expect(getCommands('pip install keyrail web3').at(-1)).toMatch(/pip install \S*\/packages\/python$/)
})
