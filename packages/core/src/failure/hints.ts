import type { FailureKind } from './failureKind.ts'

/** What to do about a failure, by its kind. */
export const hints: Record<FailureKind, string> = {
  auth: 'Check the key.',
  forbidden: 'Check the settings and plan of the key.',
  throttled: 'Slow down.',
  quota: 'Wait for the reset or raise the plan.',
  range: 'Ask for fewer blocks.',
  batchTooLarge: 'Send smaller batches.',
  methodUnavailable: 'Use an endpoint that offers it.',
  wrongNetwork: 'Check the network of the key.',
  lagging: 'Ask again soon or for an older block.',
  missingData: 'Use an archive node.',
  revert: 'Check the call.',
  txKnown: 'Look it up by its hash.',
  txRejected: 'Check nonce, fee and balance.',
  unconfirmed: 'Look it up by its hash before sending again.',
  invalidRequest: 'Check the call and the address.',
  badResponse: 'Check the address.',
  unavailable: 'Try again later.',
  network: 'Check the connection and the address.',
  timeout: 'Ask for less or raise timeoutMs.',
  aborted: '',
  unknown: '',
}
