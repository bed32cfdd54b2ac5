import { createRequire } from 'node:module'
import { join } from 'node:path'
import { top } from './run.ts'

/** The Node versions that the SDK runs on. */
export const nodes = [
  { node: 22, program: join(top, 'node_modules/node22/bin/node') },
  { node: 24, program: join(top, 'node_modules/node/bin/node') },
] as const

/** The other runtimes that the SDK runs on, besides browsers. */
export const runtimes = [
  // The SDK only needs network access to the service. Libraries also read files and the environment.
  {
    runtime: 'Deno',
    program: findDeno(),
    args: ['run', '--no-prompt', '--allow-net=127.0.0.1'],
    libraryArgs: ['--allow-env', '--allow-read'],
  },
  { runtime: 'Bun', program: findBun(), args: ['run'], libraryArgs: [] },
] as const

/** The program of Electron; undefined if there is none. */
export const electron: string | undefined = process.env['KEYRAIL_ELECTRON']

/** The supported versions of TypeScript. */
export const compilers = [
  { typescript: 7, tsc: 'tsc' },
  { typescript: 6, tsc: 'tsc6' },
] as const

function findDeno(): string | undefined {
  const libc = process.platform === 'linux' ? '-glibc' : ''
  return findProgram('deno', `@deno/${process.platform}-${process.arch}${libc}`, 'deno')
}

function findBun(): string | undefined {
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch
  return findProgram('bun', `@oven/bun-${process.platform}-${arch}`, 'bin/bun')
}

/** Finds the program of a package that installs it as a dependency for this platform. Install scripts are not needed. */
function findProgram(name: string, platform: string, file: string): string | undefined {
  try {
    const home = createRequire(createRequire(import.meta.url).resolve(`${name}/package.json`))
    return join(home.resolve(`${platform}/package.json`), '..', file)
  } catch {
    return undefined
  }
}
