import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { CliError } from '../cliError.ts'

function running(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Sees to it that one process at a time works at something: a file that holds the process's number.
 *
 * @param file - The lock's path.
 * @param what - What is worked at, for the error.
 * @returns Gives it free.
 * @throws {CliError} where another process that runs holds it.
 * @throws The platform's error where the file cannot be written.
 */
export function lockFile(file: string, what: string): () => void {
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(file, `${process.pid}\n`, { flag: 'wx' })
      return () => rmSync(file, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt === 1) throw error
    }
    const holder = Number(readFileSync(file, 'utf8'))
    // In a container a new process often has the number of the one that was killed.
    if (Number.isSafeInteger(holder) && holder > 0 && holder !== process.pid && running(holder)) {
      throw new CliError(`${what} is being written by process ${holder}`, {
        hint: `wait for that one, or name another file; if process ${holder} is something else, delete ${file}`,
      })
    }
    // Its process was killed before it could give it free.
    rmSync(file, { force: true })
  }
}
