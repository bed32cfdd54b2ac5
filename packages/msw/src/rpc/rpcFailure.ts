import type { RpcErrorObject } from '@keyrail/core'

/** What ends a call with a JSON-RPC error in place of a result. */
export class RpcFailure extends Error implements RpcErrorObject {
  readonly code: number
  readonly data?: unknown

  /**
   * @param code - The code of the error object.
   * @param message - Its message, in the words of a node.
   * @param data - Its data, where there is any.
   */
  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    if (data !== undefined) this.data = data
  }
}

/** The failure that most things are to a node. */
export const failed = (message: string): RpcFailure => new RpcFailure(-32_000, message)
