import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { DevDescription } from '../src/dev/devDescription.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** The exit code and output of the CLI. */
export interface CliRun {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A running CLI process. */
export interface RunningCli {
  readonly child: ChildProcess
  readonly printed: () => { readonly stdout: string; readonly stderr: string }
  readonly done: Promise<CliRun>
}

/** The variables that the CLI reads, and those that enable colors. Tests set them explicitly. */
const readByCli = /^(?:KEYRAIL_(?:URL|BASE_URL|FORK_URL|API_KEY|SERVICE_URL|TOKEN|ANVIL)|FORCE_COLOR)$/

/** Whether the CLI reads this environment variable. */
export const isReadByCli = (name: string): boolean => readByCli.test(name)

const environment = (extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isReadByCli(name))),
  ...extra,
})

/** Starts the CLI from source, as `npm start` does. */
export function startCli(
  words: readonly string[],
  extra: Readonly<Record<string, string>> = {},
  cwd = process.cwd(),
): RunningCli {
  const child = spawn(process.execPath, ['--conditions=@keyrail/source', main, ...words], {
    cwd,
    env: environment(extra),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const done = new Promise<CliRun>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr }))
  })
  return { child, printed: () => ({ stdout, stderr }), done }
}

/** Runs the CLI until it exits. */
export function runCli(
  words: readonly string[],
  extra: Readonly<Record<string, string>> = {},
  cwd = process.cwd(),
): Promise<CliRun> {
  return startCli(words, extra, cwd).done
}

/** Waits for a condition. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 30_000,
): Promise<void> {
  const giveUpAt = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`timeout after ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A running `keyrail dev --json`. */
export interface RunningDev extends RunningCli {
  readonly service: DevDescription
}

/** Starts `keyrail dev --json` on a free port, in a temporary folder unless `words` name one, and waits for its output. */
export async function startDevCli(
  words: readonly string[] = [],
  extra: Readonly<Record<string, string>> = {},
): Promise<RunningDev> {
  const port = words.includes('--port') ? [] : ['--port', '0']
  const folder = words.includes('--data') ? [] : ['--ephemeral']
  const running = startCli(['dev', '--json', ...port, ...folder, ...words], extra)
  let exited: CliRun | undefined
  void running.done.then((run) => (exited = run))
  const isReady = (): boolean => running.printed().stdout.includes('\n') || exited !== undefined
  await until('keyrail dev is ready', isReady, 60_000).catch((error: unknown) => {
    running.child.kill('SIGTERM')
    throw error
  })
  if (exited) throw new Error(`keyrail dev exited early (${exited.exitCode}): ${exited.stderr}`)
  return { ...running, service: JSON.parse(running.printed().stdout) as DevDescription }
}

/** Whether a process is running. Zombies do not count. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !existsSync('/proc/self/stat') || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    // It may exit between the two checks.
    return false
  }
}

/** Lists the child processes of a process. */
export function listChildren(pid: number): number[] {
  if (!existsSync('/proc/self/stat')) {
    const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
    return rows
      .map((row) => row.trim().split(/\s+/).map(Number))
      .flatMap(([child, parent]) => (parent === pid && child ? [child] : []))
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return new RegExp(`\\) \\S ${pid} `).test(readFileSync(`/proc/${name}/stat`, 'utf8'))
      } catch {
        // It has exited.
        return false
      }
    })
    .map(Number)
}

/** Reads the command line of a process. */
export function readCommandLine(pid: number): string {
  const file = `/proc/${pid}/cmdline`
  if (existsSync(file)) return readFileSync(file, 'utf8').replaceAll('\0', ' ').trim()
  return execFileSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).trim()
}

/** Sends a JSON-RPC request and returns the response body. */
export async function post(
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as Record<string, unknown>
}
