import { spawn } from 'node:child_process'
import { delimiter, isAbsolute, join } from 'node:path'

/** The top of the workspace. */
export const top: string = join(import.meta.dirname, '..')

/** The exit code and the output of a program. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** The time from the last output to the exit, in milliseconds. */
  readonly exitDelayMs: number
}

export interface RunOptions {
  readonly cwd?: string
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** The program is killed after this time, in milliseconds, and `code` is `null`. @default 120_000 */
  readonly timeoutMs?: number
}

/**
 * Runs a program until it exits, with the workspace's tools first on the path. Never throws for an exit code.
 * @param command - The name of a program on the path, or its full path.
 * @param args - Its arguments.
 * @param options - The working directory, the environment and the timeout.
 */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { NODE_OPTIONS: _, VITEST: __, NODE_COMPILE_CACHE: compileCache, ...inherited } = process.env
  const env = {
    ...inherited,
    // Not for programs in a test's temporary directory: their compiled code would never be reused.
    ...(compileCache !== undefined && !isAbsolute(command) && { NODE_COMPILE_CACHE: compileCache }),
    NO_COLOR: '1',
    PATH: `${join(top, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    ...options.env,
  }
  let lastOutputAt = performance.now()
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
      lastOutputAt = performance.now()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      lastOutputAt = performance.now()
    })
    child.on('error', reject)
    // A process that the program started can have its pipes open after the program was killed.
    child.on('exit', (_, signal) => {
      if (signal !== 'SIGKILL') return
      child.stdout.destroy()
      child.stderr.destroy()
    })
    child.on('close', (code) => resolve({ code, stdout, stderr, exitDelayMs: performance.now() - lastOutputAt }))
  })
}
