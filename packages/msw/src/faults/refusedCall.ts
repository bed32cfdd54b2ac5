import { RpcFailure } from '../rpc/rpcFailure.ts'
import type { DialectAnswer } from './dialects.ts'

/** A refusal of one call that has an HTTP status of its own, where the call stands alone. */
export class RefusedCall extends RpcFailure {
  readonly status: number

  /**
   * @param answer - As the dialect has it.
   * @param message - What it says in place of the dialect's own message.
   * @param data - The same of its data.
   */
  constructor({ status, error }: DialectAnswer, message?: string, data?: unknown) {
    super(error?.code ?? -32_000, message ?? error?.message ?? '', data ?? error?.data)
    this.status = status
  }
}
