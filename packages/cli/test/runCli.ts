import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { DevDescription } from '../src/dev/devService.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** How the CLI ended, and what it printed. */
export interface CliRun {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A CLI process that runs. */
export interface RunningCli {
  readonly child: ChildProcess
  readonly printed: () => { readonly stdout: string; readonly stderr: string }
  readonly done: Promise<CliRun>
}

/** What the command reads of the environment, and what colours it: tests say it themselves. */
const readByCli = /^(?:KEYRAIL_(?:URL|BASE_URL|API_KEY|SERVICE_URL|TOKEN|ANVIL)|FORCE_COLOR)$/

/** Whether the command reads this environment variable. */
export const isReadByCli = (name: string): boolean => readByCli.test(name)

const environment = (extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isReadByCli(name))),
  ...extra,
})

/** Starts the CLI from source, as `npm start` does. */
export function startCli(words: readonly string[], extra: Readonly<Record<string, string>> = {}): RunningCli {
  const child = spawn(process.execPath, ['--conditions=@keyrail/source', main, ...words], {
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

/** Runs the CLI to its end. */
export function runCli(words: readonly string[], extra: Readonly<Record<string, string>> = {}): Promise<CliRun> {
  return startCli(words, extra).done
}

/** Waits until something is so. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
  const giveUpAt = performance.now() + withinMs
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(`not so within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A `keyrail dev --json` that is ready. */
export interface RunningDev extends RunningCli {
  readonly service: DevDescription
}

/** Starts `keyrail dev --json` on a free port and waits for its line. */
export async function startDevCli(
  words: readonly string[] = [],
  extra: Readonly<Record<string, string>> = {},
): Promise<RunningDev> {
  const running = startCli(['dev', '--json', ...(words.includes('--port') ? [] : ['--port', '0']), ...words], extra)
  let ended: CliRun | undefined
  void running.done.then((run) => (ended = run))
  const isReady = (): boolean => running.printed().stdout.includes('\n') || ended !== undefined
  await until('keyrail dev is ready', isReady, 60_000).catch((error: unknown) => {
    running.child.kill('SIGTERM')
    throw error
  })
  if (ended) throw new Error(`keyrail dev ended early (${ended.exitCode}): ${ended.stderr}`)
  return { ...running, service: JSON.parse(running.printed().stdout) as DevDescription }
}

/** Whether a process is there. One that has ended and waits for its parent to ask does not count. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !existsSync('/proc/self/stat') || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    // It may end between the two looks.
    return false
  }
}

/** The processes that a process started. */
export function childrenOf(pid: number): number[] {
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
        // It ended meanwhile.
        return false
      }
    })
    .map(Number)
}

/** The command line of a process. */
export function commandOf(pid: number): string {
  const file = `/proc/${pid}/cmdline`
  if (existsSync(file)) return readFileSync(file, 'utf8').replaceAll('\0', ' ').trim()
  return execFileSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).trim()
}

/** Posts a body to an address and gives what came back. */
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
