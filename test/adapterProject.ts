import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { packed } from './packed.ts'
import { top } from './run.ts'

/** The adapters, by folder, and the library of each with the packages of it that the adapter takes as peers. */
export const adapters = [
  { folder: 'viem', libraries: ['viem'] },
  { folder: 'ethers', libraries: ['ethers'] },
  { folder: 'web3', libraries: ['web3', 'web3-types', 'web3-utils'] },
] as const

/**
 * Makes a user's project with one library and its adapter, as it is packed. The library comes from the workspace, so no registry is asked.
 * @param adapter - One of `adapters`.
 * @returns Its folder, which the caller removes.
 * @throws Where a package could not be built or packed.
 */
export function makeAdapterProject({ folder, libraries }: (typeof adapters)[number]): string {
  const room = realpathSync(mkdtempSync(join(tmpdir(), 'keyrail-adapter-')))
  for (const name of ['core', folder]) {
    const { path, manifest } = packed(name)
    cpSync(path, join(room, 'node_modules', manifest.name), { recursive: true })
  }
  const link = (target: string, at: string): void => {
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(target, at)
  }
  for (const library of libraries) {
    link(join(top, 'packages', folder, 'node_modules', library), join(room, 'node_modules', library))
  }
  link(join(top, 'node_modules/@types/node'), join(room, 'node_modules/@types/node'))
  writeFileSync(join(room, 'package.json'), '{ "private": true, "type": "module" }')
  return room
}
