import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** What a program printed. */
export interface Printed {
  readonly stdout: string
  readonly stderr: string
}

/** A Python that has imported web3.py, and runs programs that would import it each. */
export interface RunningPython {
  /**
   * Runs the program of a folder, with nothing but this environment.
   * @throws Where it fails, with what it said.
   */
  readonly run: (
    folder: string,
    file: string,
    environment: Readonly<Record<string, string | undefined>>,
  ) => Promise<Printed>
  readonly stop: () => void
}

/**
 * Starts one.
 * @param python - The interpreter, with the packages installed.
 */
export function startPython(python: string): RunningPython {
  const child = spawn(python, [join(import.meta.dirname, 'runPrograms.py')], {
    env: { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<number, (code: number | Error) => void>()
  let over: Error | undefined
  child.once('exit', (code) => {
    over = new Error(`Python itself ended, with code ${code}`)
    for (const end of waiting.values()) end(over)
  })
  // Told by its exit.
  child.stdin.on('error', () => {})
  createInterface(child.stdout).on('line', (line) => {
    const { id, code } = JSON.parse(line) as { id: number; code: number }
    waiting.get(id)?.(code)
    waiting.delete(id)
  })
  let asked = 0
  return {
    run: async (folder, file, environment) => {
      const id = (asked += 1)
      const code = await new Promise<number | Error>((resolve) => {
        if (over) return resolve(over)
        waiting.set(id, resolve)
        child.stdin.write(`${JSON.stringify({ id, folder, file, environment })}\n`)
      })
      if (code instanceof Error) throw code
      const [stdout = '', stderr = ''] = ['stdout.txt', 'stderr.txt'].map((name) =>
        readFileSync(join(folder, name), 'utf8'),
      )
      if (code !== 0) throw new Error(`${file} ended with code ${code}: ${stderr}`)
      return { stdout, stderr }
    },
    stop: () => child.kill(),
  }
}
