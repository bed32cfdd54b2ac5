import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What a workload cost in a process of Python. */
export interface PythonCost {
  readonly wallMs: number
  /** Of that process, user and system. */
  readonly cpuMs: number
}

/** A provider of Python in a process of its own. */
export interface PythonSubject {
  readonly run: (workload: string) => Promise<PythonCost>
  readonly stop: () => void
}

/**
 * Starts `packages/python/bench.py`.
 *
 * @param python - The program of Python.
 * @param words - The library, `sync` or `async`, and the server's URL.
 */
export function startPythonSubject(python: string, words: readonly string[]): PythonSubject {
  const file = fileURLToPath(new URL('../../../python/bench.py', import.meta.url))
  const child = spawn(python, [file, ...words], { stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`the process of '${words[0]}' ended with ${String(code)}`)
  })
  gone.catch(() => {})
  const lines = createInterface({ input: child.stdout })
  return {
    run: async (workload) => {
      const line = once(lines, 'line').then(([text]) => String(text))
      child.stdin.write(`${workload}\n`)
      return JSON.parse(await Promise.race([line, gone])) as PythonCost
    },
    stop: () => child.stdin.end(),
  }
}
