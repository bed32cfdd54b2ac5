import { isKeyrailError } from '@keyrail/core'
import { CliError } from '../cliError.ts'
import { formatFailure } from './formatFailure.ts'
import { plain } from './style.ts'

/** A failure, as printed with `--json`. */
export interface FailureJson {
  readonly error: {
    /** The kind of a failed call; null for any other failure. */
    readonly kind: string | null
    readonly message: string
    readonly hint: string | null
    readonly retryAfterMs: number | null
    /** The JSON-RPC error; null if there is none. */
    readonly rpcError: object | null
    readonly exitCode: number
  }
}

/** Converts a failure to JSON, for programs. */
export function toFailureJson(error: unknown): FailureJson {
  const { exitCode } = formatFailure(error, plain)
  const message = error instanceof Error ? error.message : String(error)
  const { kind, hint, retryAfterMs, rpcError } = isKeyrailError(error)
    ? error
    : { kind: undefined, hint: error instanceof CliError ? error.hint : undefined }
  return {
    error: {
      kind: kind ?? null,
      message,
      hint: hint ?? null,
      retryAfterMs: retryAfterMs ?? null,
      rpcError: rpcError ?? null,
      exitCode,
    },
  }
}
