import { RpcError } from '../rpc/rpcError.ts'
import type { ProviderError } from './providers.ts'

/** Rejects one call with a provider's error. The HTTP status applies if the call is not part of a batch. */
export class RejectedCall extends RpcError {
  readonly status: number

  /**
   * @param error - The provider's error.
   * @param message - Replaces the provider's message.
   * @param data - Replaces the provider's data.
   */
  constructor({ status, error }: ProviderError, message?: string, data?: unknown) {
    super(error?.code ?? -32_000, message ?? error?.message ?? '', data ?? error?.data)
    this.status = status
  }
}
