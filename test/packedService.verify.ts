import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getPacked } from './getPacked.ts'
import { workspacePackages } from './publishedPackages.ts'
import { run, top } from './run.ts'

// The packed command and gateway, installed as an operator would. Their dependencies are linked from the workspace, so no registry is needed.

const node24 = join(top, 'node_modules/node/bin/node')
let directory = ''

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyrail-service-'))
  for (const folder of ['core', 'fetch', 'snippets', 'gateway', 'cli']) {
    const { path, manifest } = getPacked(folder)
    cpSync(path, join(directory, 'node_modules', manifest.name), { recursive: true })
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (workspacePackages.some((ours) => ours.manifest.name === name)) continue
      const at = join(directory, 'node_modules', name)
      // Several packages depend on the same library.
      if (!existsSync(at)) link(join(top, 'packages', folder, 'node_modules', name), at)
    }
  }
  link(join(top, 'node_modules/@types/node'), join(directory, 'node_modules/@types/node'))
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }')
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('the packed keyrail dev --once works without other libraries', async () => {
  expect(await getShownLibraries()).toEqual(['@keyrail/fetch'])
})

test('keyrail dev --once shows the installed libraries, in source order', async () => {
  for (const folder of ['viem', 'ethers']) {
    const { path, manifest } = getPacked(folder)
    cpSync(path, join(directory, 'node_modules', manifest.name), { recursive: true })
  }
  // For viem only the adapter is installed, for ethers also the library.
  link(join(top, 'node_modules/ethers'), join(directory, 'node_modules/ethers'))
  expect(await getShownLibraries()).toEqual(['@keyrail/fetch', '@keyrail/ethers'])
  link(join(top, 'node_modules/viem'), join(directory, 'node_modules/viem'))
  expect(await getShownLibraries()).toEqual(['@keyrail/fetch', '@keyrail/ethers', '@keyrail/viem'])
})

describe.each(['tsc', 'tsc6'])('the types of the gateway under %s', (tsc) => {
  test('compile with the libraries checked', async () => {
    writeFileSync(
      join(directory, 'service.mts'),
      [
        "import { createService, parseServiceConfig, readServerSecrets } from '@keyrail/gateway'",
        "import type { Service } from '@keyrail/gateway'",
        'export const make = (config: object): Promise<Service> =>',
        "  createService({ config: parseServiceConfig(config), secrets: readServerSecrets(), storage: { file: 'keyrail.db' } })",
      ].join('\n'),
    )
    const options = [
      '--strict',
      '--noEmit',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--types',
      'node',
      '--skipLibCheck',
      'false',
    ]
    const { code, stdout } = await run(tsc, [...options, 'service.mts'], { cwd: directory })
    expect(stdout).toBe('')
    expect(code).toBe(0)
  })
})

/** Returns the libraries whose calls the packed command shows, each with both URL forms on both networks. */
async function getShownLibraries(): Promise<string[]> {
  const bin = join(directory, 'node_modules/keyrail', getPacked('cli').manifest.bin?.['keyrail'] ?? '')
  const { code, stdout, stderr } = await run(node24, [bin, 'dev', '--once', '--port', '0', '--ephemeral'], {
    cwd: directory,
  })
  expect(stderr).toBe('')
  expect(code).toBe(0)
  const calls = [...stdout.matchAll(/^\w+ +(?:app|API key), (\S+) .* matches /gm)].map(([, name = '']) => name)
  const names = [...new Set(calls)]
  expect(calls).toHaveLength(4 * names.length)
  return names
}

function link(target: string, at: string): void {
  mkdirSync(dirname(at), { recursive: true })
  symlinkSync(target, at)
}
