/** The exit codes, documented in `keyrail --help`. Scripts may rely on the numbers. */
export const exitCodes = { ok: 0, rejected: 1, usage: 2, noResponse: 3, interrupted: 130 } as const

/**
 * A failure that the user can fix: what happened, and how to fix it.
 * Its text never contains a key.
 */
export class CliError extends Error {
  declare readonly hint: string | undefined
  declare readonly exitCode: number

  /**
   * @param message - What happened.
   * @param details - `hint`: how to fix it. `exitCode`: the exit code. @default 1
   */
  constructor(message: string, details: { readonly hint?: string; readonly exitCode?: number } = {}) {
    super(message)
    this.name = 'CliError'
    this.hint = details.hint
    this.exitCode = details.exitCode ?? exitCodes.rejected
  }
}

/** Creates an error for invalid usage (exit code 2). */
export function wrongUsage(message: string, hint?: string): CliError {
  return new CliError(message, { exitCode: exitCodes.usage, ...(hint === undefined ? {} : { hint }) })
}
