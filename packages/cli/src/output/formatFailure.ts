import { isKeyrailError } from '@keyrail/core'
import { CliError, exitCodes } from '../cliError.ts'
import type { Style } from './style.ts'

/** The lines to print for a failure, and the exit code. */
export interface FormattedFailure {
  readonly lines: readonly string[]
  readonly exitCode: number
}

/**
 * Formats a failure: its kind, what happened, and how to fix it.
 *
 * @param error - Anything that was thrown.
 * @param style - The style of the kind.
 */
export function formatFailure(error: unknown, style: Style): FormattedFailure {
  if (isKeyrailError(error)) {
    const { kind, source, hint, retryAfterMs, rpcError } = error
    // The message ends with the hint, which gets its own line here.
    const message =
      hint === undefined || !error.message.endsWith(hint) ? error.message : error.message.slice(0, -hint.length)
    const lines = [`${style.bad(kind)}: ${message.trimEnd()}`]
    if (rpcError?.data !== undefined) lines.push(`  data: ${JSON.stringify(rpcError.data)}`)
    if (retryAfterMs !== undefined) lines.push(`  try again in ${Math.ceil(retryAfterMs / 1_000)} s`)
    if (hint !== undefined) lines.push(`  hint: ${hint}`)
    // A rejection before anything was sent means invalid usage.
    const unsent = kind === 'invalidRequest' && source === 'client'
    const noResponse = kind === 'network' || kind === 'timeout' || kind === 'badResponse' || kind === 'aborted'
    return { lines, exitCode: unsent ? exitCodes.usage : noResponse ? exitCodes.noResponse : exitCodes.rejected }
  }
  if (error instanceof CliError) {
    const lines = [`${style.bad('keyrail')}: ${error.message}`]
    if (error.hint !== undefined) lines.push(`  hint: ${error.hint}`)
    return { lines, exitCode: error.exitCode }
  }
  const message = error instanceof Error ? error.message : String(error)
  // Of the file system: its message has the code, what happened and the path.
  if (error instanceof Error && 'syscall' in error && 'path' in error)
    return {
      lines: [
        `${style.bad('keyrail')}: ${message}`,
        '  hint: check the path, its permissions and the space on the disk',
      ],
      exitCode: exitCodes.rejected,
    }
  return { lines: [`${style.bad('keyrail')}: unexpected error: ${message}`], exitCode: exitCodes.rejected }
}
