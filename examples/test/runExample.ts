import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'

/** Caches compiled code between programs, which halves their start-up time. */
const compileCache = join(import.meta.dirname, '../../node_modules/.cache/keyrail')

/** The exit code and the output of a program. */
export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A running program. */
export interface Running {
  readonly child: ChildProcess
  readonly printed: () => { readonly stdout: string; readonly stderr: string }
  readonly done: Promise<Ended>
}

/**
 * Starts a program of an example. Its environment has no variables of Keyrail or Vitest, except the given ones.
 *
 * @param program - The folder and the file, such as `balances/balances.ts`.
 * @param environment - Additional environment variables.
 * @param words - Command line arguments.
 * @param examples - The parent of the folder. @default the folder of the examples
 */
export function startExample(
  program: string,
  environment: Readonly<Record<string, string>>,
  words: readonly string[] = [],
  examples = join(import.meta.dirname, '..'),
): Running {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(KEYRAIL_|VITEST|NODE_OPTIONS$)/.test(name))
  const [folder = '', file = ''] = program.split('/')
  const child = spawn(process.execPath, ['--conditions=@keyrail/source', file, ...words], {
    cwd: join(examples, folder),
    env: { ...Object.fromEntries(inherited), NODE_COMPILE_CACHE: compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 100_000,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const done = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr }))
  })
  return { child, printed: () => ({ stdout, stderr }), done }
}

/** Runs a program of an example until it exits. */
export const runExample = (...given: Parameters<typeof startExample>): Promise<Ended> => startExample(...given).done
