import type { FailureKind } from './failureKind.ts'

const sentences: Readonly<Record<FailureKind, string>> = {
  auth: 'This app has no valid access to the network. Reload the page.',
  forbidden: 'This app is not allowed to do this on the network. Please report it.',
  throttled: 'This app is very busy. Try again in a moment.',
  quota: 'This app has reached its limit of requests. Try again later.',
  range: 'This app requested too much data at once. Please report it.',
  batchTooLarge: 'This app requested too much data at once. Please report it.',
  methodUnavailable: 'The network does not support this. Please report it.',
  wrongNetwork: 'This app is connected to the wrong network. Please report it.',
  lagging: 'The network is a little behind. Try again in a moment.',
  missingData: 'The network no longer has this data. Please report it.',
  revert: 'The contract rejected this request.',
  txKnown: 'This transaction has already been sent.',
  txRejected: 'The network rejected this transaction. Check your balance and the fee, and try again.',
  unconfirmed:
    'The transaction was sent, but the network has not confirmed it. Check your account before you send it again.',
  invalidRequest: 'This app is not set up correctly, or sent an invalid request. Please report it.',
  badResponse: 'The network sent an unexpected response. Try again in a few minutes.',
  unavailable: 'The network is unavailable. Try again in a few minutes.',
  network: 'The network cannot be reached. Check your connection.',
  timeout: 'The network takes too long to respond. Try again.',
  aborted: 'The request was canceled.',
  unknown: 'Something went wrong. Try again.',
}

/**
 * Describes a failure to the visitors of an app: one or two sentences in English without technical terms. They depend on the kind only, so they
 * contain nothing that a node or a service has sent.
 *
 * @param failure - The failure, such as the one that `findFailure` returns. Undefined, and a kind of a later version, are described as `unknown`.
 * @example
 * client.eth_blockNumber().catch((error) => {
 *   document.body.append(describeFailure(findFailure(error))) // 'The network cannot be reached. Check your connection.'
 * })
 */
export function describeFailure(failure: { readonly kind: FailureKind } | undefined): string {
  return sentences[failure?.kind ?? 'unknown'] ?? sentences.unknown
}
