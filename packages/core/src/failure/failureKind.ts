/**
 * Every way a call can fail, as a closed list that is only ever appended to. What to do about each stands in `docs/failures.md`, headed by its
 * kind.
 *
 * - `auth` the key or token is missing, unknown, revoked or expired
 * - `forbidden` the key is known, but its settings or plan refuse this call
 * - `throttled` too many requests in a short time: wait and the same call will be answered
 * - `quota` the daily, monthly or plan allowance is used up: waiting seconds will not help
 * - `range` the log or block range is too wide, or its answer too large
 * - `batchTooLarge` the endpoint refuses a batch of this size
 * - `methodUnavailable` the method is unknown or not offered here
 * - `wrongNetwork` the key, the address or the node belongs to another chain or network
 * - `lagging` the node has not seen the block asked for yet
 * - `missingData` the node has pruned, or never kept, what was asked for
 * - `revert` the contract reverted or its execution failed
 * - `txKnown` the node holds this transaction already
 * - `txRejected` the transaction pool refuses the transaction
 * - `unconfirmed` a transaction was sent and whether it arrived is not known: it was not found, or the node's error does not say
 * - `invalidRequest` the call or an option is wrong
 * - `badResponse` what came back is not an answer to what was asked
 * - `unavailable` the service or the node behind it is down or too busy
 * - `network` no connection, or it broke
 * - `timeout` no answer in time
 * - `aborted` ended on this side, for example by `close()`
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
