import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { CliError } from './cliError.ts'

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Finds the running process that holds a lock.
 *
 * @param file - The path of the lock file.
 * @returns Its process id; undefined if none holds it.
 */
export function findLockHolder(file: string): number | undefined {
  const holder = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  return Number.isSafeInteger(holder) && holder > 0 && isRunning(holder) ? holder : undefined
}

/** The locks of this process. */
const held = new Set<string>()

/**
 * Acquires a lock between processes: a file that contains the process id.
 *
 * @param file - The path of the lock file.
 * @param describe - Describes the error if another process holds the lock, given its process id.
 * @returns Releases the lock. Safe to call twice.
 * @throws {CliError} if another running process holds it.
 * @throws The system error if the file cannot be written.
 */
export function lockFile(
  file: string,
  describe: (holder: number) => { readonly message: string; readonly fix: string },
): () => void {
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(file, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
      held.add(file)
      let isReleased = false
      return () => {
        // A second call must not remove the next lock.
        if (isReleased) return
        isReleased = true
        held.delete(file)
        rmSync(file, { force: true })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt === 1) throw error
    }
    const holder = Number(readFileSync(file, 'utf8'))
    // In a container, a new process often has the id of the killed one.
    const isHeld =
      holder === process.pid ? held.has(file) : Number.isSafeInteger(holder) && holder > 0 && isRunning(holder)
    if (isHeld) {
      const { message, fix } = describe(holder)
      throw new CliError(message, { hint: `${fix}; if process ${holder} is another program, delete ${file}` })
    }
    // Its process was killed before it released the lock.
    rmSync(file, { force: true })
  }
}
