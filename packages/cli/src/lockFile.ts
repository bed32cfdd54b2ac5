import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { CliError } from './cliError.ts'

function running(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** What this process holds. */
const held = new Set<string>()

/**
 * Sees to it that one process at a time works at something: a file that holds the process's number.
 *
 * @param file - The lock's path, always the same for the same thing.
 * @param rejection - What another process that holds it is told of: the error's words, given that process's number.
 * @returns Gives it free.
 * @throws {CliError} where another process that runs holds it.
 * @throws The platform's error where the file cannot be written.
 */
export function lockFile(
  file: string,
  rejection: (holder: number) => { readonly message: string; readonly fix: string },
): () => void {
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(file, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
      held.add(file)
      return () => {
        held.delete(file)
        rmSync(file, { force: true })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt === 1) throw error
    }
    const holder = Number(readFileSync(file, 'utf8'))
    // In a container a new process often has the number of the one that was killed.
    const isHeld =
      holder === process.pid ? held.has(file) : Number.isSafeInteger(holder) && holder > 0 && running(holder)
    if (isHeld) {
      const { message, fix } = rejection(holder)
      throw new CliError(message, { hint: `${fix}; if process ${holder} is something else, delete ${file}` })
    }
    // Its process was killed before it could give it free.
    rmSync(file, { force: true })
  }
}
