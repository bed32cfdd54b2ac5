/** How the CLI ends. Documented in `keyrail --help`; scripts may rely on the numbers. */
export const exitCodes = { ok: 0, rejected: 1, usage: 2, noResponse: 3, interrupted: 130 } as const

/**
 * A failure that the person at the keyboard can fix: what happened, and what to do about it.
 * Its text never holds a key.
 */
export class CliError extends Error {
  declare readonly hint: string | undefined
  declare readonly exitCode: number

  /**
   * @param message - What happened.
   * @param details - `hint`: the fix. `exitCode`: how the process ends. @default 1
   */
  constructor(message: string, details: { readonly hint?: string; readonly exitCode?: number } = {}) {
    super(message)
    this.name = 'CliError'
    this.hint = details.hint
    this.exitCode = details.exitCode ?? exitCodes.rejected
  }
}

/** A command line that cannot be understood (exit code 2). */
export function wrongUsage(message: string, hint?: string): CliError {
  return new CliError(message, { exitCode: exitCodes.usage, ...(hint === undefined ? {} : { hint }) })
}
