import { findNearestName } from '../failure/findNearestName.ts'
import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { getFlaggedMethods } from '../schema/methodFlags.ts'

/** Adds a hint to a failure. Returns anything else, and failures without a hint, unchanged. */
export function withHint(failure: unknown): unknown {
  if (!isKeyrailError(failure)) return failure
  const { kind, source, method = '' } = failure
  // The transport's own messages about bad input already say how to fix it.
  const hint =
    kind === 'invalidRequest' && source === 'client'
      ? undefined
      : (kind === 'methodUnavailable' && findSpelling(method)) || hintTexts[kind]
  return hint ? new KeyrailError(`${failure.message} ${hint}`, { ...failure, hint }) : failure
}

/** The nearest name of a method that does not exist. Providers have methods of their own, so only a name with up to three typing errors is near. */
function findSpelling(method: string): string | undefined {
  const known = getFlaggedMethods()
  const nearest = known.includes(method) ? undefined : findNearestName(method, known, 3)
  return nearest && `Did you mean "${nearest}"?`
}

/** How to fix a failure, by its kind. Kinds that only the caller can fix have none. */
export const hintTexts: Partial<Record<FailureKind, string>> = {
  auth: 'Check the API key or token.',
  forbidden: 'Check the allow lists and the plan of the key.',
  throttled: 'Send fewer requests per second, or set a budget.',
  quota: 'Wait for the reset, or raise the limit.',
  range: 'Request fewer blocks.',
  batchTooLarge: 'Send smaller batches.',
  methodUnavailable: 'Check its spelling, or use another endpoint.',
  wrongNetwork: 'Check the network of the key, or chainId.',
  lagging: 'Try again.',
  revert: 'Decode it with the ABI, or pass createProvider(transport).',
  missingData: 'Use an archive node.',
  txKnown: 'Look up the transaction by its hash.',
  txRejected: 'Check nonce, fee and balance.',
  unconfirmed: 'Look up the transaction by its hash.',
  invalidRequest: 'Check the call and the endpoint URL.',
  badResponse: 'Check the endpoint URL, and proxies in between.',
  unavailable: 'Try again later.',
  network: 'Check the endpoint URL and the connection.',
  timeout: 'Request less, or raise timeoutMs.',
}
