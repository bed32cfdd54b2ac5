import { vi } from 'vitest'
import { runMain } from '../src/runMain.ts'
import { isReadByCli } from './runCli.ts'
import type { CliRun } from './runCli.ts'

/** Replaces a stream's `write` so that the text is collected instead. @returns The text so far. */
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
 * Runs the command line in this process, which takes milliseconds: a process of its own takes a third of a second. Use `runCli` where the process is
 * the subject: signals, terminals, arguments that others can list.
 *
 * @param words - The command line after `keyrail`.
 * @param extra - The variables that the command finds, of those that it reads.
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
