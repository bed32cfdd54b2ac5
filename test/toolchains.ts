import { createRequire } from 'node:module'
import { join } from 'node:path'
import { top } from './run.ts'

/** The Node versions that the SDK runs on. */
export const nodes = [
  { node: 20, program: join(top, 'node_modules/node20/bin/node') },
  { node: 22, program: join(top, 'node_modules/node22/bin/node') },
  { node: 24, program: join(top, 'node_modules/node/bin/node') },
] as const

/** What else runs it without a page. */
export const runtimes = [
  // It may reach the service and nothing more: no file, no environment. Libraries beside it want those.
  {
    runtime: 'Deno',
    program: deno(),
    words: ['run', '--no-prompt', '--allow-net=127.0.0.1'],
    wordsOfLibraries: ['--allow-env', '--allow-read'],
  },
  { runtime: 'Bun', program: bun(), words: ['run'], wordsOfLibraries: [] },
] as const

/** The versions of TypeScript that its types compile under. */
export const compilers = [
  { typescript: 7, tsc: 'tsc' },
  { typescript: 6, tsc: 'tsc6' },
] as const

function deno(): string | undefined {
  const libc = process.platform === 'linux' ? '-glibc' : ''
  return programOf('deno', `@deno/${process.platform}-${process.arch}${libc}`, 'deno')
}

function bun(): string | undefined {
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch
  return programOf('bun', `@oven/bun-${process.platform}-${arch}`, 'bin/bun')
}

/** The program that a package brings by another one for this platform. What the first would do with it on installing is not run. */
function programOf(name: string, platform: string, file: string): string | undefined {
  try {
    const home = createRequire(createRequire(import.meta.url).resolve(`${name}/package.json`))
    return join(home.resolve(`${platform}/package.json`), '..', file)
  } catch {
    return undefined
  }
}
