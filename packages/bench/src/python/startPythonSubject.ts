import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { thisCheckout } from '../thisCheckout.ts'

/** The cost of a workload in a Python process. */
export interface PythonCost {
  readonly wallMs: number
  /** User and system time of the process. */
  readonly cpuMs: number
}

/** A Python provider in a separate process. */
export interface PythonSubject {
  readonly run: (workload: string) => Promise<PythonCost>
  readonly stop: () => void
}

/**
 * Starts `packages/python/bench.py`.
 *
 * @param python - The Python executable.
 * @param words - The provider, `sync` or `async`, and the URL of the server.
 * @param checkout - Whose code runs. Default: this one.
 */
export function startPythonSubject(python: string, words: readonly string[], checkout = thisCheckout): PythonSubject {
  const file = fileURLToPath(new URL('packages/python/bench.py', checkout))
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
