import { isKeyrailError } from '@keyrail/core'
import type { FailureKind, KeyrailError } from '@keyrail/core'
import { BaseError, ContractFunctionRevertedError, SwitchChainError, UserRejectedRequestError } from 'viem'

const texts: Partial<Record<FailureKind, string>> = {
  network: 'The network cannot be reached. Are you online?',
  timeout: 'The network takes too long to answer. Try again.',
  throttled: 'Many people are here just now. Try again in a moment.',
  quota: 'We have asked all that we may today. Come back tomorrow.',
  unavailable: 'The network is out of order. Try again in a few minutes.',
  auth: 'This page is out of date. Reload it.',
  forbidden: 'This page may not ask the network. Tell us, please.',
}

/** Says what went wrong to somebody who only wants to pay. */
export function failureText(error: unknown): string {
  if (!(error instanceof BaseError)) return 'Something is wrong with this page. Reload it.'
  if (error.walk((one) => one instanceof UserRejectedRequestError)) return 'You declined, and nothing was sent.'
  if (error.walk((one) => one instanceof SwitchChainError))
    return 'Your wallet does not know this network. Add it there.'
  const revert = error.walk((one) => one instanceof ContractFunctionRevertedError)
  if (revert instanceof ContractFunctionRevertedError) {
    return revert.data?.errorName === 'InsufficientBalance'
      ? 'You have less than that.'
      : 'The token does not allow this transfer. Nothing was sent.'
  }
  // An error of viem has the transport's own failure with it.
  const found = error.walk((one) => isKeyrailError(Object(one).failure)) as { failure?: KeyrailError } | null
  return texts[found?.failure?.kind ?? 'unknown'] ?? `It did not work: ${error.shortMessage}`
}
