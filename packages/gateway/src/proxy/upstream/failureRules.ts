import type { FailureKind } from '@keyrail/core'

/** How an attempt at an upstream failed. `null`: it responded with `null` for something that another node may have. */
export type AttemptFailure = 'null' | FailureKind

/** What happens when an attempt fails. */
export interface FailureRule {
  /** `next`: another upstream may have a better response, so a read is sent there too. `final`: every node would respond alike. */
  readonly then: 'next' | 'final'
  /**
   * `call`: the node works, and its error tells the caller about the call. `node`: something is wrong with the node or with the operator's access
   * to it, so it counts for its circuit breaker. `gateway`: neither.
   */
  readonly about: 'call' | 'node' | 'gateway'
}

/**
 * What happens on every kind of failure. If every upstream fails, the caller gets the failure that comes first here, because it says most about
 * the call: first what every node would say, then what this node lacks, then what may pass if the caller retries, then what the operator has to
 * fix, and last what is no response at all.
 *
 * `docs/service/upstreams.md` has this table for operators.
 */
export const failureRules: { readonly [kind in AttemptFailure]: FailureRule } = {
  null: { then: 'next', about: 'call' },
  revert: { then: 'final', about: 'call' },
  txKnown: { then: 'final', about: 'call' },
  txRejected: { then: 'final', about: 'call' },
  invalidRequest: { then: 'final', about: 'call' },
  range: { then: 'final', about: 'call' },
  batchTooLarge: { then: 'final', about: 'call' },
  unknown: { then: 'final', about: 'call' },
  aborted: { then: 'final', about: 'gateway' },
  missingData: { then: 'next', about: 'call' },
  lagging: { then: 'next', about: 'call' },
  methodUnavailable: { then: 'next', about: 'call' },
  unconfirmed: { then: 'next', about: 'call' },
  throttled: { then: 'next', about: 'node' },
  unavailable: { then: 'next', about: 'node' },
  timeout: { then: 'next', about: 'node' },
  quota: { then: 'next', about: 'node' },
  auth: { then: 'next', about: 'node' },
  forbidden: { then: 'next', about: 'node' },
  wrongNetwork: { then: 'next', about: 'node' },
  badResponse: { then: 'next', about: 'node' },
  network: { then: 'next', about: 'node' },
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
  return failureRules[end.kind].then === 'next' && (idempotent || end.isRejectedBeforeRun) ? 'next' : 'finish'
}

/** Chooses which of two ends the caller gets: a result, else the one that comes first in `failureRules`, else the earlier one. */
export const chooseEnd = <End extends AttemptEnd>(best: End | undefined, end: End): End =>
  best === undefined || getRank(end) < getRank(best) ? end : best

const getRank = ({ kind }: AttemptEnd): number => order.get(kind) ?? -1
