import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packed } from './packed.ts'
import { workspacePackages } from './publishedPackages.ts'
import { run, top } from './run.ts'

// The command and the gateway as an operator installs them. Their own dependencies come from the workspace, so no registry is asked.

const node24 = join(top, 'node_modules/node/bin/node')
let room = ''

beforeAll(() => {
  room = mkdtempSync(join(tmpdir(), 'keyrail-service-'))
  for (const folder of ['core', 'fetch', 'snippets', 'gateway', 'cli']) {
    const { path, manifest } = packed(folder)
    cpSync(path, join(room, 'node_modules', manifest.name), { recursive: true })
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (workspacePackages.some((ours) => ours.manifest.name === name)) continue
      link(join(top, 'packages', folder, 'node_modules', name), join(room, 'node_modules', name))
    }
  }
  link(join(top, 'node_modules/@types/node'), join(room, 'node_modules/@types/node'))
  writeFileSync(join(room, 'package.json'), '{ "private": true, "type": "module" }')
})

afterAll(() => rmSync(room, { recursive: true, force: true }))

test('keyrail dev --once works as it is packed, and brings no library of others', async () => {
  expect(await shown()).toEqual(['@keyrail/fetch'])
})

test('keyrail dev --once shows the libraries that are installed beside it, in the order of its source', async () => {
  for (const folder of ['viem', 'ethers']) {
    const { path, manifest } = packed(folder)
    cpSync(path, join(room, 'node_modules', manifest.name), { recursive: true })
  }
  // Of viem there is only the adapter, and of ethers all.
  link(join(top, 'node_modules/ethers'), join(room, 'node_modules/ethers'))
  expect(await shown()).toEqual(['@keyrail/fetch', '@keyrail/ethers'])
  link(join(top, 'node_modules/viem'), join(room, 'node_modules/viem'))
  expect(await shown()).toEqual(['@keyrail/fetch', '@keyrail/ethers', '@keyrail/viem'])
})

describe.each(['tsc', 'tsc6'])('the types of the gateway under %s', (tsc) => {
  test('compile with the libraries checked', async () => {
    writeFileSync(
      join(room, 'service.mts'),
      [
        "import { createGateway, createMemoryKeyStore } from '@keyrail/gateway'",
        "import type { Gateway, GatewayOptions } from '@keyrail/gateway'",
        "export const make = (networks: GatewayOptions['networks']): Gateway => createGateway({ networks, keys: createMemoryKeyStore() })",
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
    const { code, stdout } = await run(tsc, [...options, 'service.mts'], { cwd: room })
    expect(stdout).toBe('')
    expect(code).toBe(0)
  })
})

/** The libraries whose first calls the packed command shows, each by both shapes on both networks. */
async function shown(): Promise<string[]> {
  const bin = join(room, 'node_modules/keyrail', packed('cli').manifest.bin?.['keyrail'] ?? '')
  const { code, stdout, stderr } = await run(node24, [bin, 'dev', '--once', '--port', '0'], { cwd: room })
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
