/** One JSON-RPC call, as source text. */
export interface ParsedCall {
  readonly valid: true
  /** The source text of the id; `undefined` for a notification. */
  readonly id: string | undefined
  readonly method: string
  /** The source text of the params, if there are any. */
  readonly params: string | undefined
  /** Whether the params are an array or an object. */
  readonly paramsFit: boolean
  /** The first member that JSON-RPC does not define. It is not forwarded. */
  readonly unknownName: string | undefined
}

/** An element of a batch, or a body, that is not a JSON-RPC request. */
export interface InvalidCall {
  readonly valid: false
  /** The source text of the id; `null` if it has none, several, or one that is no id. @see JSON-RPC 2.0 section 5 */
  readonly id: string
  /** Details of the problem, if there are any. Follows "Invalid Request: ". */
  readonly problem?: string
}
