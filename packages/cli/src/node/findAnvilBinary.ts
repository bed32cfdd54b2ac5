import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { CliError } from '../cliError.ts'

// There is no build for Windows on arm64, which runs x64 programs.
const builds: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-amd64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'darwin-amd64',
  'darwin-arm64': 'darwin-arm64',
  'win32-x64': 'win32-amd64',
  'win32-arm64': 'win32-amd64',
}

const ownBinary = 'set KEYRAIL_ANVIL to the path of an anvil binary'

/** Gets the npm package with the binary for a platform; undefined if there is none. */
export function getAnvilPackage(platform: string, arch: string): string | undefined {
  const build = builds[`${platform}-${arch}`]
  return build && `@foundry-rs/anvil-${build}`
}

/**
 * Finds the anvil binary. The package's `bin.mjs` is not used, because it would add a Node process between this one and the node, which would
 * have to stop its child reliably.
 *
 * @param machine - The platform, and KEYRAIL_ANVIL. @default this one
 * @returns The binary's path.
 * @throws {CliError} if it is missing.
 */
export function findAnvilBinary(
  machine: { readonly platform: string; readonly arch: string; readonly own?: string | undefined } = {
    platform: process.platform,
    arch: process.arch,
    own: process.env['KEYRAIL_ANVIL'],
  },
): string {
  const { platform, arch, own } = machine
  if (own) {
    if (existsSync(own)) return own
    throw new CliError(`KEYRAIL_ANVIL is set to a file that does not exist: ${own}`, {
      hint: 'fix the path, or unset it',
    })
  }
  const name = getAnvilPackage(platform, arch)
  if (name === undefined) {
    throw new CliError(`the embedded node has no build for ${platform}-${arch}`, { hint: ownBinary })
  }
  try {
    const anvil = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
    const folder = dirname(createRequire(anvil).resolve(`${name}/package.json`))
    const path = join(folder, 'bin', platform === 'win32' ? 'anvil.exe' : 'anvil')
    if (existsSync(path)) return path
  } catch {
    // Not installed: rejected below.
  }
  throw new CliError(`the embedded node's binary is missing: ${name} is not installed`, {
    hint: `install optional dependencies (npm install --include=optional), or ${ownBinary}; the container image does not include it, so run keyrail dev outside a container`,
  })
}
