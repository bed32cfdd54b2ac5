import { expect, test } from 'vitest'
import { getInstallSteps } from './installSteps.ts'

const npm = 'npm install @keyrail/core @keyrail/viem viem@2'

test('shows the install command if the registries have all packages of Keyrail in it', () => {
  expect(getInstallSteps(npm, ['@keyrail/core', '@keyrail/viem'])).toEqual([{ command: npm }])
  expect(getInstallSteps('npm install viem@2', [])).toEqual([{ command: 'npm install viem@2' }])
  expect(getInstallSteps('pip install keyrail web3', ['keyrail'])).toEqual([{ command: 'pip install keyrail web3' }])
})

test('builds unpublished packages from the repository', () => {
  expect(getInstallSteps(npm, ['@keyrail/core'])).toEqual([
    {
      where: 'in the Keyrail repository',
      command:
        'npm run setup && npm run build && npm run pnpm -- --filter @keyrail/core --filter @keyrail/viem pack --pack-destination /path/to/your-project',
    },
    { where: 'in your project', command: 'npm install ./keyrail-*.tgz viem@2' },
  ])
  expect(getInstallSteps('pip install keyrail web3', ['@keyrail/core'])).toEqual([
    { where: 'in the Keyrail repository', command: 'pip install ./packages/python web3' },
  ])
})
