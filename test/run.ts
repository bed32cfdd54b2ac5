import { spawn } from 'node:child_process'
import { delimiter, isAbsolute, join } from 'node:path'

/** The top of the workspace. */
export const top: string = join(import.meta.dirname, '..')

/** How a program ended and what it said. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** From the last that it said to its end, in milliseconds. */
  readonly lingeredMs: number
}

export interface RunOptions {
  readonly cwd?: string
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Killed after this long, in milliseconds; `code` is then `null`. @default 120_000 */
  readonly timeoutMs?: number
}

/**
 * Runs a program to its end, the workspace's own tools first on the path. Never throws for an exit code.
 * @param command - A program of the path, or its whole path.
 * @param args - Its arguments.
 * @param options - Where, with what environment, and for how long at most.
 */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { NODE_OPTIONS: _, VITEST: __, NODE_COMPILE_CACHE: compileCache, ...inherited } = process.env
  const env = {
    ...inherited,
    // Not for programs that a test puts into a room of its own: nobody would read again what is kept of them.
    ...(compileCache !== undefined && !isAbsolute(command) && { NODE_COMPILE_CACHE: compileCache }),
    NO_COLOR: '1',
    PATH: `${join(top, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    ...options.env,
  }
  let saidAt = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? top,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeoutMs ?? 120_000,
      killSignal: 'SIGKILL',
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      saidAt = performance.now()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      saidAt = performance.now()
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr, lingeredMs: performance.now() - saidAt }))
  })
}
