import { isKeyrailError } from '@keyrail/core'
import type { JsonRpcApiProvider } from 'ethers'
import { toEthersError } from './toEthersError.ts'

/** Notifies the listeners of a provider that a loop which serves them has failed. */
export interface ErrorReport {
  readonly succeeded: () => void
  /** Emits the error, unless the loop's next round may succeed or the one before failed, too. */
  readonly failed: (error: unknown) => void
}

/**
 * Creates the report of one loop.
 *
 * @param provider - Emits `error`.
 * @param call - The call that the loop repeats.
 */
export function createErrorReport(
  provider: JsonRpcApiProvider,
  call: { readonly method: string; readonly params: unknown[] },
): ErrorReport {
  let isReported = false
  return {
    succeeded: () => {
      isReported = false
    },
    failed: (error) => {
      const failure: unknown = Object(error).failure ?? error
      if (isReported || (isKeyrailError(failure) && failure.retryable)) return
      isReported = true
      void provider.emit('error', toEthersError(provider, failure, { jsonrpc: '2.0', id: 0, ...call }))
    },
  }
}
