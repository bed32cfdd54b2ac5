import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServiceConfigInput } from '../../src/service/serviceConfig.ts'

const main = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url))

/** The result of a process. */
export interface Ended {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A log line of the service. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly event: string; readonly level: string }

/** A running `keyrail serve`. */
export interface ServiceProcess {
  readonly child: ChildProcess
  readonly url: string
  readonly port: number
  /** The output so far. */
  readonly printed: () => { readonly stdout: string; readonly stderr: string }
  readonly lines: () => readonly LogLine[]
  /** Waits for output, and returns all so far. */
  readonly until: (
    is: (printed: ReturnType<ServiceProcess['printed']>) => boolean,
  ) => Promise<ReturnType<ServiceProcess['printed']>>
  /** Waits for a log line. */
  readonly logged: (what: string, is: (line: LogLine) => boolean) => Promise<LogLine>
  /** Stops the process. @param signal - @default 'SIGTERM' */
  readonly stop: (signal?: NodeJS.Signals) => Promise<Ended>
}

/** The service must not inherit the environment of the tests. */
const createEnvironment = (extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  TMPDIR: process.env['TMPDIR'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  NO_COLOR: '1',
  // Nothing checks `/readyz` in most tests.
  KEYRAIL_DRAIN_DELAY_MS: '0',
  ...extra,
})

const launch = (
  words: readonly string[],
  extra: Readonly<Record<string, string>>,
  program = main,
  cwd = process.cwd(),
) => {
  const child = spawn(process.execPath, ['--conditions=@keyrail/source', program, ...words], {
    cwd,
    env: createEnvironment(extra),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const done = once(child, 'close').then(([exitCode, signal]): Ended => ({
    exitCode: exitCode as number | null,
    signal: signal as NodeJS.Signals | null,
    stdout,
    stderr,
  }))
  return { child, done, printed: () => ({ stdout, stderr }) }
}

/** Runs a command of the CLI. */
export const runKeyrail = (
  words: readonly string[],
  extra: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<Ended> => launch(words, extra, undefined, cwd).done

const timeoutMs = 45_000

const waitFor = async <T>(what: string, look: () => T | undefined): Promise<T> => {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`not seen within ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Writes a config into a folder. @returns Its path. */
export const writeConfig = (folder: string, config: ServiceConfigInput, name = 'keyrail.config.json'): string => {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(config, undefined, 2))
  return file
}

/**
 * Starts `keyrail serve` with a config file and waits until it listens.
 * @param program - The source of the command. @default that of this workspace
 */
export const startServe = (
  file: string,
  extra: Readonly<Record<string, string>>,
  program = main,
): Promise<ServiceProcess> => startServeIn(process.cwd(), ['--config', file], extra, program)

/** Starts `keyrail serve` with any options in a folder, and waits until it listens. */
export const startServeIn = async (
  folder: string,
  options: readonly string[],
  extra: Readonly<Record<string, string>> = {},
  program = main,
): Promise<ServiceProcess> => {
  const { child, done, printed } = launch(['serve', ...options], extra, program, folder)
  let ended: Ended | undefined
  void done.then((result) => (ended = result))
  const lines = (): LogLine[] =>
    printed()
      .stdout.split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LogLine)
  const logged = (what: string, is: (line: LogLine) => boolean): Promise<LogLine> =>
    waitFor(what, () => {
      const found = lines().find(is)
      if (found === undefined && ended !== undefined)
        throw new Error(`the service ended (${ended.exitCode}) before ${what}: ${ended.stderr}`)
      return found
    })
  const listening = await logged('it listens', ({ event }) => event === 'listening').catch((error: unknown) => {
    // The caller has no handle to stop it.
    child.kill('SIGKILL')
    throw error
  })
  const { port } = listening as LogLine & { port: number }
  return {
    child,
    port,
    url: `http://127.0.0.1:${port}`,
    printed,
    lines,
    logged,
    until: (is) => waitFor('the output', () => (is(printed()) ? printed() : undefined)),
    stop: (signal = 'SIGTERM') => {
      child.kill(signal)
      return done
    },
  }
}
