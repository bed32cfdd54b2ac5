import { describeFailure, findFailure } from '@keyrail/viem'
import { BaseError, ContractFunctionRevertedError, SwitchChainError, UserRejectedRequestError } from 'viem'

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
  const failure = findFailure(error)
  return failure ? describeFailure(failure) : `Something went wrong: ${error.shortMessage}`
}
