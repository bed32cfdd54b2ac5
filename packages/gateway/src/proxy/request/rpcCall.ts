/** One JSON-RPC call as it was written. */
export interface RpcCall {
  readonly valid: true
  /** The id's source text, or `undefined` for a notification. */
  readonly id: string | undefined
  readonly method: string
  /** The source text of params, or `undefined` where there are none. */
  readonly params: string | undefined
  /** False where params are neither an array nor an object. */
  readonly paramsFit: boolean
  /** The first member that JSON-RPC does not have. It is not forwarded. */
  readonly unknownName: string | undefined
}

/** An item that is no JSON-RPC request. */
export interface NoRequest {
  readonly valid: false
  /** What is wrong with it, where there is more to say. Reads on after "Invalid Request: ". */
  readonly problem?: string
}
