import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The output of a program. */
export interface Printed {
  readonly stdout: string
  readonly stderr: string
}

/** A Python process that has imported web3.py and runs programs without importing it again. */
export interface RunningPython {
  /**
   * Runs a program in a folder, with only this environment.
   * @throws {Error} If the program fails, with its error output.
   */
  readonly run: (
    folder: string,
    file: string,
    environment: Readonly<Record<string, string | undefined>>,
  ) => Promise<Printed>
  readonly stop: () => void
}

/**
 * Starts a Python process.
 * @param python - The interpreter, with the packages installed.
 */
export function startPython(python: string): RunningPython {
  const child = spawn(python, [join(import.meta.dirname, 'runPrograms.py')], {
    env: { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<number, (code: number | Error) => void>()
  let exitError: Error | undefined
  child.once('exit', (code) => {
    exitError = new Error(`Python exited with code ${code}`)
    for (const end of waiting.values()) end(exitError)
  })
  // The exit event reports the problem.
  child.stdin.on('error', () => {})
  createInterface(child.stdout).on('line', (line) => {
    const { id, code } = JSON.parse(line) as { id: number; code: number }
    waiting.get(id)?.(code)
    waiting.delete(id)
  })
  let lastId = 0
  return {
    run: async (folder, file, environment) => {
      const id = (lastId += 1)
      const code = await new Promise<number | Error>((resolve) => {
        if (exitError) return resolve(exitError)
        waiting.set(id, resolve)
        child.stdin.write(`${JSON.stringify({ id, folder, file, environment })}\n`)
      })
      if (code instanceof Error) throw code
      const [stdout = '', stderr = ''] = ['stdout.txt', 'stderr.txt'].map((name) =>
        readFileSync(join(folder, name), 'utf8'),
      )
      if (code !== 0) throw new Error(`${file} exited with code ${code}: ${stderr}`)
      return { stdout, stderr }
    },
    stop: () => child.kill(),
  }
}
