import { isKeyrailError } from '@keyrail/core'
import type { FailureKind, KeyrailError } from '@keyrail/core'
import { BaseError, ContractFunctionRevertedError, SwitchChainError, UserRejectedRequestError } from 'viem'

const texts: Partial<Record<FailureKind, string>> = {
  network: 'The network cannot be reached. Are you online?',
  timeout: 'The network takes too long to respond. Try again.',
  throttled: 'This page is very busy. Try again in a moment.',
  quota: 'This page has reached its daily limit. Come back tomorrow.',
  unavailable: 'The network is unavailable. Try again in a few minutes.',
  auth: 'This page is out of date. Reload it.',
  forbidden: 'This page is not allowed to use the network. Please let us know.',
}

/** Explains an error to visitors, without technical terms. */
export function getFailureText(error: unknown): string {
  if (!(error instanceof BaseError)) return 'Something went wrong on this page. Reload it.'
  if (error.walk((one) => one instanceof UserRejectedRequestError)) return 'You declined. Nothing was sent.'
  if (error.walk((one) => one instanceof SwitchChainError))
    return 'Your wallet does not know this network. Add it there.'
  const revert = error.walk((one) => one instanceof ContractFunctionRevertedError)
  if (revert instanceof ContractFunctionRevertedError) {
    return revert.data?.errorName === 'InsufficientBalance'
      ? 'You have less than that.'
      : 'The token does not allow this transfer. Nothing was sent.'
  }
  // The failure of the transport is attached to an error of viem.
  const found = error.walk((one) => isKeyrailError(Object(one).failure)) as { failure?: KeyrailError } | null
  return texts[found?.failure?.kind ?? 'unknown'] ?? `Something went wrong: ${error.shortMessage}`
}
