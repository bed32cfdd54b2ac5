/**
 * Every kind of failure. New kinds may be added, none is ever renamed or removed. `docs/failures.md` says what to do about each.
 *
 * - `auth` the key or token is missing, unknown, revoked or expired
 * - `forbidden` the key is known, but its settings or plan do not allow this call
 * - `throttled` too many requests in a short time: wait, and the same call will succeed
 * - `quota` the daily, monthly or plan allowance is used up: waiting seconds will not help
 * - `range` the log or block range is too wide, or its result too large
 * - `batchTooLarge` the endpoint rejects a batch of this size
 * - `methodUnavailable` the method is unknown or not offered here
 * - `wrongNetwork` the key, the endpoint or the node belongs to another chain or network
 * - `lagging` the node has not seen the requested block yet
 * - `missingData` the node has pruned the requested data, or never stored it
 * - `revert` the contract reverted or its execution failed
 * - `txKnown` the node already has this transaction
 * - `txRejected` the transaction pool rejects the transaction
 * - `unconfirmed` a transaction was sent, but it is unknown whether it arrived: it was not found, or the node's error does not say
 * - `invalidRequest` the call or an option is wrong
 * - `badResponse` the response is not a valid response to the request
 * - `unavailable` the service or the node behind it is down or too busy
 * - `network` no connection, or it broke
 * - `timeout` no response in time
 * - `aborted` canceled by the client, for example by `close()`
 * - `unknown` the node returned an error that is not on this list, or `fetch` or the agent threw a programming error
 */
export type FailureKind =
  | 'auth'
  | 'forbidden'
  | 'throttled'
  | 'quota'
  | 'range'
  | 'batchTooLarge'
  | 'methodUnavailable'
  | 'wrongNetwork'
  | 'lagging'
  | 'missingData'
  | 'revert'
  | 'txKnown'
  | 'txRejected'
  | 'unconfirmed'
  | 'invalidRequest'
  | 'badResponse'
  | 'unavailable'
  | 'network'
  | 'timeout'
  | 'aborted'
  | 'unknown'
