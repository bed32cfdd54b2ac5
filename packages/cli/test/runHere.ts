import { vi } from 'vitest'
import { runMain } from '../src/runMain.ts'
import { isReadByCli } from './runCli.ts'
import type { CliRun } from './runCli.ts'

/** Captures a stream's output. @returns The text so far. */
function capture(stream: NodeJS.WriteStream): { readonly text: () => string; readonly restore: () => void } {
  let text = ''
  const write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    const written = rest.find((one): one is () => void => typeof one === 'function')
    if (written) queueMicrotask(written)
    return true
  }
  const spy = vi.spyOn(stream, 'write').mockImplementation(write as typeof stream.write)
  return { text: () => text, restore: () => spy.mockRestore() }
}

/**
 * Runs the CLI in this process, which takes milliseconds. Use `runCli` to test the process itself: signals, terminals, process lists.
 *
 * @param words - The arguments after `keyrail`.
 * @param extra - The environment variables for the CLI.
 */
export async function runHere(words: readonly string[], extra: Readonly<Record<string, string>> = {}): Promise<CliRun> {
  for (const name of Object.keys(process.env)) if (isReadByCli(name)) vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries(extra)) vi.stubEnv(name, value)
  const stdout = capture(process.stdout)
  const stderr = capture(process.stderr)
  try {
    const exitCode = await runMain(words)
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    stdout.restore()
    stderr.restore()
    vi.unstubAllEnvs()
  }
}
