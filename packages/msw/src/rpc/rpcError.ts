import type { RpcErrorObject } from '@keyrail/core'

/** Ends a call with a JSON-RPC error. */
export class RpcError extends Error implements RpcErrorObject {
  readonly code: number
  readonly data?: unknown

  /**
   * @param code - The JSON-RPC error code.
   * @param message - The message, in the wording of a real node.
   * @param data - The error's data, if any.
   */
  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    if (data !== undefined) this.data = data
  }
}

/** An error with code -32000, which nodes use for most failures. */
export const serverError = (message: string): RpcError => new RpcError(-32_000, message)
