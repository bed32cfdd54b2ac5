import { isKeyrailError } from '@keyrail/core'
import { CliError, exitCodes } from '../cliError.ts'
import type { Style } from './style.ts'

/** The lines that tell a failure, and how the process ends. */
export interface FormattedFailure {
  readonly lines: readonly string[]
  readonly exitCode: number
}

/**
 * Puts a failure in words: what kind, what happened, what to do.
 *
 * @param error - Anything that was thrown.
 * @param style - How the kind stands out.
 */
export function formatFailure(error: unknown, style: Style): FormattedFailure {
  if (isKeyrailError(error)) {
    const { kind, source, hint, retryAfterMs, rpcError } = error
    // The message of a failure ends with its hint, which has a line of its own here.
    const message =
      hint === undefined || !error.message.endsWith(hint) ? error.message : error.message.slice(0, -hint.length)
    const lines = [`${style.bad(kind)}: ${message.trimEnd()}`]
    if (rpcError?.data !== undefined) lines.push(`  data: ${JSON.stringify(rpcError.data)}`)
    if (retryAfterMs !== undefined) lines.push(`  try again in ${Math.ceil(retryAfterMs / 1_000)} s`)
    if (hint !== undefined) lines.push(`  hint: ${hint}`)
    // A rejection on this side, before anything was sent, is a wrong command line; without an answer nobody rejected anything.
    const unsent = kind === 'invalidRequest' && source === 'client'
    const unanswered = kind === 'network' || kind === 'timeout' || kind === 'badResponse' || kind === 'aborted'
    return { lines, exitCode: unsent ? exitCodes.usage : unanswered ? exitCodes.noResponse : exitCodes.rejected }
  }
  if (error instanceof CliError) {
    const lines = [`${style.bad('keyrail')}: ${error.message}`]
    if (error.hint !== undefined) lines.push(`  hint: ${error.hint}`)
    return { lines, exitCode: error.exitCode }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { lines: [`${style.bad('keyrail')}: unexpected failure: ${message}`], exitCode: exitCodes.rejected }
}
