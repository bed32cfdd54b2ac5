import type { FailureKind } from '@keyrail/core'

/** How an attempt at an upstream failed. `null`: it responded with `null` for something that another node may have. */
export type AttemptFailure = 'null' | FailureKind

/** The reaction to a failed attempt. */
export interface FailureRule {
  /** `otherNode`: another upstream may have a better response, so a read is sent there too. `never`: every node would respond alike. */
  readonly retry: 'otherNode' | 'never'
  /**
   * `call`: the node works, and its error is about the call. `node`: something is wrong with the node or with the operator's access
   * to it, so it counts for its circuit breaker. `load`: the node works, and rejects calls for their rate (see `createBackoff`). `gateway`: the node is not the cause.
   */
  readonly about: 'call' | 'node' | 'load' | 'gateway'
}

/**
 * The reaction to each kind of failure. If every upstream fails, the caller gets the failure that comes first here, because it says most about
 * the call: first what every node would say, then what this node lacks, then what may pass if the caller retries, then what the operator has to
 * fix, and last what is no response at all.
 *
 * `docs/service/upstreams.md` has this table for operators.
 */
export const failureRules: { readonly [kind in AttemptFailure]: FailureRule } = {
  null: { retry: 'otherNode', about: 'call' },
  revert: { retry: 'never', about: 'call' },
  txKnown: { retry: 'never', about: 'call' },
  txRejected: { retry: 'never', about: 'call' },
  invalidRequest: { retry: 'never', about: 'call' },
  range: { retry: 'never', about: 'call' },
  batchTooLarge: { retry: 'never', about: 'call' },
  aborted: { retry: 'never', about: 'gateway' },
  missingData: { retry: 'otherNode', about: 'call' },
  lagging: { retry: 'otherNode', about: 'call' },
  methodUnavailable: { retry: 'otherNode', about: 'call' },
  unknown: { retry: 'otherNode', about: 'call' },
  unconfirmed: { retry: 'otherNode', about: 'call' },
  throttled: { retry: 'otherNode', about: 'load' },
  unavailable: { retry: 'otherNode', about: 'node' },
  timeout: { retry: 'otherNode', about: 'node' },
  quota: { retry: 'otherNode', about: 'load' },
  auth: { retry: 'otherNode', about: 'node' },
  forbidden: { retry: 'otherNode', about: 'node' },
  wrongNetwork: { retry: 'otherNode', about: 'node' },
  badResponse: { retry: 'otherNode', about: 'node' },
  network: { retry: 'otherNode', about: 'node' },
}

const order: ReadonlyMap<string, number> = new Map(Object.keys(failureRules).map((kind, index) => [kind, index]))

/** How an attempt ended. */
export interface AttemptEnd {
  readonly kind: 'result' | AttemptFailure
  /** A write that ended this way cannot have been run by the node. */
  readonly isRejectedBeforeRun: boolean
}

/**
 * Decides what follows an attempt.
 * @param best - The end of an earlier attempt at the same call, if there was one.
 * @param idempotent - Sending the call twice has the same effect as once.
 * @returns `finish`: the call has ended. `next`: it is sent to another upstream, if one is left.
 */
export const decideNext = (
  end: AttemptEnd,
  { best, idempotent }: { best: AttemptEnd | undefined; idempotent: boolean },
): 'finish' | 'next' => {
  if (end.kind === 'result') return 'finish'
  // Two nodes that do not have it are enough.
  if (end.kind === 'null' && best?.kind === 'null') return 'finish'
  return failureRules[end.kind].retry === 'otherNode' && (idempotent || end.isRejectedBeforeRun) ? 'next' : 'finish'
}

/** Chooses which of two ends the caller gets: a result, else the one that comes first in `failureRules`, else the earlier one. */
export const chooseEnd = <End extends AttemptEnd>(best: End | undefined, end: End): End =>
  best === undefined || getRank(end) < getRank(best) ? end : best

const getRank = ({ kind }: AttemptEnd): number => order.get(kind) ?? -1
