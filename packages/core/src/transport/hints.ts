import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import type { FailureKind } from '../failure/failureKind.ts'

/** Puts the hint on a failure; what has none is given back as it is. */
export function withHint(failure: unknown): unknown {
  const hint = isKeyrailError(failure) && hintOf[failure.kind]
  return hint ? new KeyrailError(`${failure.message} ${hint}`, { ...failure, hint }) : failure
}

/** What to do about a failure, by its kind; nothing where only the caller can know. */
export const hintOf: Partial<Record<FailureKind, string>> = {
  auth: 'Check the key.',
  forbidden: 'Check the settings of the key.',
  throttled: 'Slow down.',
  quota: 'Wait for the reset or raise the limit.',
  range: 'Ask for fewer blocks.',
  batchTooLarge: 'Send smaller batches.',
  methodUnavailable: 'Check its spelling, or ask another endpoint.',
  wrongNetwork: 'Check the network of the key, or chainId.',
  lagging: 'Ask again.',
  revert: 'Libraries decode it through createProvider(transport).',
  missingData: 'Ask an archive node.',
  txKnown: 'Look up its hash.',
  txRejected: 'Check nonce, fee and balance.',
  unconfirmed: 'Look up its hash.',
  invalidRequest: 'Check the call and the address.',
  badResponse: 'Check the address and what stands in between.',
  unavailable: 'Ask again.',
  network: 'Check the address.',
  timeout: 'Ask for less or raise timeoutMs.',
}
