import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'

/** What was compiled for one program is kept for the next, which spares half of what it takes to start it. */
const compileCache = join(import.meta.dirname, '../../node_modules/.cache/keyrail')

/** How a program ended. */
export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A program that runs. */
export interface Running {
  readonly child: ChildProcess
  readonly printed: () => { readonly stdout: string; readonly stderr: string }
  readonly done: Promise<Ended>
}

/**
 * Starts a program of an example, with nothing of ours in its environment but what is given.
 *
 * @param program - Folder and file.
 * @param examples - Where the folder lies. @default the folder of the examples
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

/** Runs a program of an example to its end. */
export const runExample = (...given: Parameters<typeof startExample>): Promise<Ended> => startExample(...given).done
