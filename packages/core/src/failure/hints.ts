import type { FailureKind } from './failureKind.ts'

/** What to do about a failure, by its kind; nothing where only the caller can know. */
export const hints: Partial<Record<FailureKind, string>> = {
  auth: 'Check the key.',
  forbidden: 'Check the settings and plan of the key.',
  throttled: 'Slow down.',
  quota: 'Wait for the reset or raise the plan.',
  range: 'Ask for fewer blocks.',
  batchTooLarge: 'Send smaller batches.',
  methodUnavailable: 'Ask another endpoint.',
  wrongNetwork: 'Check the network of the key.',
  lagging: 'Ask again.',
  missingData: 'Ask an archive node.',
  txKnown: 'Look up its hash.',
  txRejected: 'Check nonce, fee and balance.',
  unconfirmed: 'Look up its hash.',
  invalidRequest: 'Check the call and the address.',
  badResponse: 'Check the address.',
  unavailable: 'Ask again.',
  network: 'Check the address.',
  timeout: 'Ask for less or raise timeoutMs.',
}
