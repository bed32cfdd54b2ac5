import table from './classification.json' with { type: 'json' }
import type { Facts } from './facts.ts'
import type { FailureKind } from './failureKind.ts'
import type { RpcErrorObject } from './keyrailError.ts'

/**
 * Gives a failure its kind: that of the first rule that holds.
 *
 * A rule is `kind: regex`. The regex is searched, without regard to case, in what is known of the failure, written as three lines or more
 * (of which the first 4,000 characters count):
 *
 * - `{HTTP status} {code} {batch} {method}`. Code is that of the JSON-RPC error, `undefined` where the answer had none; batch is `true` where
 *   the call was sent in one, else `undefined`. `^` stands for the start of this line, and no `.` leads out of a line.
 * - The text.
 * - The data of the JSON-RPC error: a text as it is, anything else as compact JSON, `undefined` where there is none.
 *
 * @param facts - What is known of the failure.
 * @param method - The method of the call.
 * @param rules - The ordered table. Default: Keyrail's own, `classification.json`.
 * @returns The kind, or undefined where no rule holds.
 * @example
 * classify({ text: 'header not found', rpcError: { code: -32000, message: 'header not found' } }, 'eth_call') // 'lagging'
 */
export function classify(
  { text, status, rpcError, batch }: Facts,
  method: string,
  rules: readonly string[] = table,
): FailureKind | undefined {
  const { code, data }: Partial<RpcErrorObject> = rpcError ?? {}
  const seen = `${status} ${code} ${batch} ${method}\n${text}\n${typeof data === 'string' ? data : JSON.stringify(data)}`
  for (const rule of rules) {
    const [kind, regex] = rule.split(': ') as [FailureKind, string]
    if (new RegExp(regex, 'i').test(seen.slice(0, 4_000))) return kind
  }
  return undefined
}
