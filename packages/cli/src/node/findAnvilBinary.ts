import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { CliError } from '../cliError.ts'

// Windows on arm64 runs x64 programs, and has no build of its own.
const builds: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-amd64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'darwin-amd64',
  'darwin-arm64': 'darwin-arm64',
  'win32-x64': 'win32-amd64',
  'win32-arm64': 'win32-amd64',
}

const ownBinary = 'or set KEYRAIL_ANVIL to the path of an anvil binary of your own'

/** The npm package that holds the node's binary for a platform; undefined where there is none. */
export function getAnvilPackage(platform: string, arch: string): string | undefined {
  const build = builds[`${platform}-${arch}`]
  return build && `@foundry-rs/anvil-${build}`
}

/**
 * Finds the anvil binary itself. The package's own `bin.mjs` is passed by: it would put one more Node process
 * between this one and the node, and that process would have to be trusted to end its child.
 *
 * @param machine - The machine to look for. @default this one
 * @returns The binary's path.
 * @throws {CliError} naming the package that is missing and the fix.
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
    throw new CliError(`KEYRAIL_ANVIL names a file that is not there: ${own}`, { hint: 'fix the path, or unset it' })
  }
  const name = getAnvilPackage(platform, arch)
  if (name === undefined) {
    throw new CliError(`the embedded node has no build for ${platform}-${arch}`, { hint: ownBinary.slice(3) })
  }
  try {
    const anvil = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
    const folder = dirname(createRequire(anvil).resolve(`${name}/package.json`))
    const path = join(folder, 'bin', platform === 'win32' ? 'anvil.exe' : 'anvil')
    if (existsSync(path)) return path
  } catch {
    // Not installed; said below, with the fix.
  }
  throw new CliError(`the embedded node's binary is missing: ${name} is not installed`, {
    hint: `it is an optional dependency: install again without leaving those out (npm install --include=optional), ${ownBinary}. Keyrail's container image does not have it: run keyrail dev outside of the container`,
  })
}
