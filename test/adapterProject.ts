import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { getPacked } from './getPacked.ts'
import { top } from './run.ts'

/** The adapters by folder, each with its library and the peer dependencies that come with it. */
export const adapters = [
  { folder: 'viem', libraries: ['viem'] },
  { folder: 'ethers', libraries: ['ethers'] },
  { folder: 'web3', libraries: ['web3', 'web3-types', 'web3-utils'] },
] as const

/**
 * Creates a user's project with one library and its packed adapter. The library is linked from the workspace, so no registry is needed.
 * @param adapter - One of `adapters`.
 * @returns The folder of the project, which the caller removes.
 * @throws If a package could not be built or packed.
 */
export function makeAdapterProject({ folder, libraries }: (typeof adapters)[number]): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'keyrail-adapter-')))
  for (const name of ['core', folder]) {
    const { path, manifest } = getPacked(name)
    cpSync(path, join(directory, 'node_modules', manifest.name), { recursive: true })
  }
  const link = (target: string, at: string): void => {
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(target, at)
  }
  for (const library of libraries) {
    link(join(top, 'packages', folder, 'node_modules', library), join(directory, 'node_modules', library))
  }
  link(join(top, 'node_modules/@types/node'), join(directory, 'node_modules/@types/node'))
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }')
  return directory
}
