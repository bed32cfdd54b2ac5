import { toFailureMeaning, toMeaning } from '../../confirm/toMeaning.ts'
import { canAgree, decidedKinds, groupVotes } from '../../confirm/votes.ts'
import { createFailure } from '../../failure/createFailure.ts'
import { isKeyrailError } from '../../failure/keyrailError.ts'
import type { KeyrailError } from '../../failure/keyrailError.ts'
import type { Complete, RouteCall } from '../call/call.ts'
import { blockNumber } from '../cacheRule.ts'
import { createCall } from '../call/createCall.ts'
import { onCancel } from '../call/onCancel.ts'
import { OPEN_COST } from './endpointChoice.ts'
import { headRequest } from './heads.ts'
import { readTags } from './readTags.ts'
import type { Tag, TaggedCall } from './readTags.ts'
import { createAttempt, startAttemptTimer, stopAttempt } from './routeAttempt.ts'
import type { Attempt } from './routeAttempt.ts'
import { createLaggingFailure } from './routeBlock.ts'
import { chooseFailure } from './routeFailure.ts'
import type { RouteState } from './routeState.ts'
import { attemptLimitMs, getUrl, recordFailure, withOwnClock } from './sendToEndpoints.ts'

/** How the endpoints of a route vote. */
export interface Voting {
  /** How many of different groups must agree. */
  readonly nodes: number
  /** The group of each endpoint: each group has one vote. */
  readonly groups: readonly string[]
  /** The newest blocks that results were from. No later result is from an older one. */
  readonly seen: Map<Tag, number>
}

/** What an endpoint said about a call. */
interface Vote {
  readonly ok: boolean
  readonly value: unknown
  readonly meaning: string
}

/** A call that several endpoints must agree on, while they are asked. */
interface Poll {
  readonly route: RouteState
  readonly call: RouteCall
  readonly complete: Complete
  readonly voting: Voting
  readonly minBlock: number
  readonly tagged: TaggedCall
  /** The number of the block in place of each tag. */
  readonly blocks: Map<Tag, number>
  /** The attempts in flight. */
  readonly attempts: Set<Attempt>
  readonly failures: KeyrailError[]
  readonly votes: Vote[]
  /** The endpoints that were chosen, and those of the same groups: bit n for endpoint n. */
  tried: number
  over: boolean
}

/**
 * Sends a read to several endpoints at once, at the same block, and completes with the first response if they agree on its meaning. If they do not,
 * one more is asked. An endpoint that fails is replaced.
 *
 * @param route - What the calls of the route share.
 * @param call - The call.
 * @param complete - Called once with the outcome.
 * @param options - How many must agree, and the lowest block that the response may be from; 0 for any.
 */
export function sendToVoters(
  route: RouteState,
  call: RouteCall,
  complete: Complete,
  { voting, minBlock }: { readonly voting: Voting; readonly minBlock: number },
): void {
  const tagged = readTags(call.method, call.params)
  const seenBlock = tagged.tags.includes('latest') ? (voting.seen.get('latest') ?? 0) : 0
  const poll: Poll = {
    route,
    call,
    complete,
    voting,
    minBlock: Math.max(minBlock, seenBlock),
    tagged,
    blocks: new Map(),
    attempts: new Set(),
    failures: [],
    votes: [],
    tried: 0,
    over: false,
  }
  onCancel(call, (reason) => finish(poll, false, reason, reason))
  const { nodes } = voting
  while (poll.attempts.size < nodes) if (!open(poll)) break
  const { size } = poll.attempts
  if (size < nodes) fail(poll, `only ${size} of ${nodes} endpoints are available, so the result is not confirmed`)
  else pin(poll)
}

const finish = (poll: Poll, ok: boolean, value: unknown, reason?: unknown): void => {
  poll.over = true
  for (const attempt of poll.attempts) {
    clearTimeout(attempt.timer)
    stopAttempt(attempt, reason)
  }
  poll.complete(ok, value)
}

const fail = (poll: Poll, text: string): void => {
  const { method } = poll.call
  finish(poll, false, createFailure({ kind: 'unavailable', text }, { method, redactedUrl: getUrl(poll.route, 0) }))
}

/** Starts an attempt at an endpoint of a group that has no vote yet. @returns Undefined if there is none. */
const open = (poll: Poll): Attempt | undefined => {
  const { route, call, minBlock, voting } = poll
  const at = route.choice.choose(call, poll.tried, minBlock, OPEN_COST - 1)
  if (at < 0) return undefined
  for (const [other, group] of voting.groups.entries()) if (group === voting.groups[at]) poll.tried |= 1 << other
  const attempt = createAttempt(route, withOwnClock(call), at, minBlock)
  poll.attempts.add(attempt)
  startAttemptTimer(attempt, attemptLimitMs(route, call), getUrl(route, at))
  return attempt
}

/** Ends an attempt. @returns Whether it counts. */
const close = (poll: Poll, attempt: Attempt): boolean => {
  clearTimeout(attempt.timer)
  return poll.attempts.delete(attempt) && !poll.over
}

/** Finds out at which block the call is sent, and sends it to the endpoints that have it. An endpoint that is behind is replaced. */
const pin = (poll: Poll): void => {
  const { tagged, minBlock, route, call, blocks, voting } = poll
  const found = new Map<Tag, number[]>()
  // One more until all have been queried: an endpoint may fail at once.
  let waiting = 1
  const end = (): void => {
    if (--waiting > 0) return
    for (const [tag, known] of found) blocks.set(tag, Math.max(Math.min(...known), voting.seen.get(tag) ?? 0))
    if (blocks.size < tagged.tags.length) finish(poll, false, chooseFailure(poll.failures))
    else askAll(poll)
  }
  const query = (attempt: Attempt): void => {
    waiting += tagged.tags.length
    for (const tag of tagged.tags)
      readTag(poll, tag, attempt, (block) => {
        const isBehind = tag === 'latest' && block < minBlock
        if (!Number.isNaN(block) && !isBehind) found.set(tag, [...(found.get(tag) ?? []), block])
        else if (close(poll, attempt)) {
          poll.failures.push(createLaggingFailure(call.method, minBlock, getUrl(route, attempt.at)))
          const next = open(poll)
          if (next) query(next)
        }
        end()
      })
  }
  if (tagged.tags.length === 0) askAll(poll)
  else {
    // A copy, because an endpoint that fails at once is replaced in the set.
    const chosen = [...poll.attempts]
    for (const attempt of chosen) query(attempt)
    end()
  }
}

/** Reads the number of the block that an endpoint has for a tag; NaN if it has none. */
const readTag = (poll: Poll, tag: Tag, attempt: Attempt, done: (block: number) => void): void => {
  const { route, call } = poll
  const { at } = attempt
  const end: Complete = (ok, value) => {
    if (poll.over) return
    if (!ok && isKeyrailError(value)) recordFailure(route, call, at, value)
    if (ok && tag === 'latest') route.heads.learn(at, headRequest, value)
    done(ok ? blockNumber(tag === 'latest' ? value : Object(value).number) : NaN)
  }
  if (tag === 'latest') {
    route.headQueries[at]?.(attempt, end)
    return
  }
  const query: RouteCall = {
    ...createCall('eth_getBlockByNumber', `["${tag}",false]`, { priority: call.options.priority }),
    bypassesBreaker: attempt.bypassesBreaker,
  }
  onCancel(attempt, (reason) => {
    query.ended = true
    query.cancel?.(reason)
  })
  route.endpoints[at]?.send(query, end)
}

const askAll = (poll: Poll): void => {
  const ready = [...poll.attempts]
  for (const attempt of ready) ask(poll, attempt)
  if (ready.length < poll.voting.nodes) decide(poll)
}

const ask = (poll: Poll, attempt: Attempt): void => {
  const { route, call, votes, tagged } = poll
  const { at } = attempt
  attempt.params = tagged.pin(poll.blocks)
  route.endpoints[at]?.send(attempt, (ok, value) => {
    if (!close(poll, attempt)) return
    if (!ok && !isKeyrailError(value)) {
      finish(poll, false, value)
      return
    }
    const meaning = getMeaning(call, ok, value)
    if (meaning !== undefined) votes.push({ ok, value, meaning })
    else {
      const failure = isKeyrailError(value) ? value : createDeepFailure(call, getUrl(route, at))
      recordFailure(route, call, at, failure)
      poll.failures.push(failure)
    }
    decide(poll)
  })
}

/** Gets what an endpoint said about the call; undefined if it said nothing that can be compared. */
const getMeaning = ({ method }: RouteCall, ok: boolean, value: unknown): string | undefined => {
  if (ok) return toMeaning(value, method)
  const { kind, rpcError } = value as KeyrailError
  return rpcError && decidedKinds.includes(kind) ? `failure ${toFailureMeaning(kind, rpcError)}` : undefined
}

const createDeepFailure = ({ method }: RouteCall, redactedUrl: string): KeyrailError =>
  createFailure({ kind: 'badResponse', text: 'the result is nested too deep to be compared' }, { method, redactedUrl })

const isSame = (one: Vote, other: Vote): boolean => one.meaning === other.meaning

/** Ends the poll if enough endpoints agree, or cannot agree any more; else replaces those that failed, and asks one more if the others disagree. */
const decide = (poll: Poll): void => {
  const { votes, attempts, blocks, failures } = poll
  const { nodes, seen } = poll.voting
  const groups = groupVotes(votes, isSame)
  const [first] = groups[0] ?? []
  const most = groups[0]?.length ?? 0
  if (first && most >= nodes) {
    for (const [tag, block] of blocks) seen.set(tag, Math.max(seen.get(tag) ?? 0, block))
    finish(poll, first.ok, first.value)
    return
  }
  const mayAgree = canAgree({ nodes, votes: votes.length, most, open: attempts.size })
  while (mayAgree && most + attempts.size < nodes) {
    const attempt = open(poll)
    if (!attempt) break
    ask(poll, attempt)
  }
  if (poll.over || most + attempts.size >= nodes) return
  // Those in flight decide whether it is a dispute, and how the call fails if none says anything.
  if (attempts.size > 0 && groups.length < 2) return
  if (groups.length > 1) fail(poll, `the endpoints disagree on the result: ${nodes} must agree`)
  else if (first) fail(poll, `only ${votes.length} of ${nodes} endpoints responded, so the result is not confirmed`)
  else finish(poll, false, chooseFailure(failures))
}
