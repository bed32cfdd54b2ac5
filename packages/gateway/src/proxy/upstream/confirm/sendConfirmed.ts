import { canAgree, groupVotes } from '@keyrail/core/internal'
import type { EqualVotes } from '@keyrail/core/internal'
import { isRejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import type { ConfirmRule } from '../../method/confirmRule.ts'
import type { CallDone, CallResult } from '../callResult.ts'
import type { CallScope, SendCall } from '../callScope.ts'
import type { PickOptions } from '../chooseUpstream.ts'
import { toPickOptions } from '../forwardedCall.ts'
import type { GroupMember } from '../groupMember.ts'
import { isNull } from '../getNullMeaning.ts'
import { createCallSender } from '../logs/createCallSender.ts'
import type { CallSender } from '../logs/createCallSender.ts'
import { forwardRead } from '../logs/forwardLogs.ts'
import { drawWithin, pickWithRoom } from '../pickWithRoom.ts'
import type { ConfirmOutcome } from './createConfirmations.ts'
import { getMinHead, pinCall, recordBlocks } from './pinCall.ts'
import type { PinnedCall } from './pinCall.ts'
import { isSame, toVote } from './vote.ts'
import type { Vote } from './vote.ts'

/** A call that several nodes must agree on, while they are asked. */
interface Poll {
  readonly rule: ConfirmRule
  readonly scope: CallScope
  readonly sender: CallSender
  readonly done: CallDone
  /** The block that a node must have. */
  minHead: number | undefined
  pinned: PinnedCall
  /** The nodes that were chosen, and those of the same groups. */
  readonly taken: GroupMember[]
  readonly votes: Vote[]
  /** How many nodes have not responded yet. */
  open: number
  /** What the caller gets if no node says anything about the call. */
  failure: CallResult | undefined
  timer: NodeJS.Timeout | undefined
  /** When the time of the call is over. */
  readonly endsAt: number
  /** Whether it waits for room in the budget of one more node, or there was none. */
  room: 'due' | 'running' | 'over'
  /** Whether the heads of nodes that seem to be behind were queried: others may have the block by now, because heads are known every few seconds only. */
  refresh: 'due' | 'running' | 'over'
  isOver: boolean
}

/**
 * Sends a read to several independent nodes at once, and returns the first response if they agree. If they do not, one more node is asked. A node
 * that fails, or that has not responded after half of the time, is replaced. Neither the cache nor other callers' reads are used.
 */
export const sendConfirmed: SendCall = (call, scope, options, done) => {
  const { confirm: rule } = call.traits
  if (rule === undefined) return forwardRead(call, scope, options, done)
  const { deadlineMs = scope.timeoutMs } = options
  const poll: Poll = {
    rule,
    scope,
    sender: createCallSender(scope, options, forwardRead),
    done,
    minHead: getMinHead(call, scope),
    pinned: { call, blocks: new Map() },
    taken: [],
    votes: [],
    open: 0,
    failure: undefined,
    timer: undefined,
    endsAt: performance.now() + deadlineMs,
    room: 'due',
    refresh: 'due',
    isOver: false,
  }
  void start(poll, deadlineMs / 2)
  return () => stop(poll)
}

const start = async (poll: Poll, halfMs: number): Promise<void> => {
  const { rule, scope, minHead } = poll
  const { call } = poll.pinned
  let members = await pickMembers(poll)
  if (members.length < rule.nodes && minHead !== undefined) {
    poll.refresh = 'over'
    await scope.group.refreshHeads(minHead)
    poll.taken.length = 0
    members = await pickMembers(poll)
  }
  if (poll.isOver) return
  if (members.length === 0) {
    const rejection = scope.group.explainNoPick(toPickOptions([call]))
    end(poll, 'few', rejection.reason === 'no_upstream' ? rejections.tooFewNodes(rule.nodes, 0) : rejection)
    return
  }
  if (members.length < rule.nodes && rule.onFew === 'error') {
    end(poll, 'few', rejections.tooFewNodes(rule.nodes, members.length))
    return
  }
  poll.pinned = await pinCall(call, members, scope)
  const latest = poll.pinned.blocks.get('latest')
  if (latest !== undefined) poll.minHead = Math.max(minHead ?? 0, latest)
  if (poll.isOver) return
  poll.timer = setTimeout(() => {
    if (poll.open > 0) askOneMore(poll)
  }, halfMs)
  for (const member of members) ask(poll, member)
}

const pickMembers = async (poll: Poll): Promise<readonly GroupMember[]> => {
  const members: GroupMember[] = []
  while (members.length < poll.rule.nodes && !poll.isOver) {
    const member =
      pick(poll) ??
      take(poll, await pickWithRoom(poll.scope, getNeeds(poll), { endsAt: poll.endsAt, isStopped: () => poll.isOver }))
    if (member === undefined) break
    members.push(member)
  }
  return members
}

/** Chooses a node of a group that has no vote yet. */
const pick = (poll: Poll): GroupMember | undefined => take(poll, poll.scope.group.pick(getNeeds(poll)))

const getNeeds = ({ taken, minHead, pinned, scope: { ownerId, keyId } }: Poll): PickOptions =>
  toPickOptions([pinned.call], { tried: taken, ownerId, keyId, minHead, seenHead: minHead })

const take = ({ taken, scope: { group } }: Poll, member: GroupMember | undefined): GroupMember | undefined => {
  if (member !== undefined) taken.push(...group.getPeers(member))
  return member
}

const ask = (poll: Poll, member: GroupMember): void => {
  const { sender, pinned, votes } = poll
  poll.open += 1
  void sender.query(pinned.call, member).then((result) => {
    if (poll.isOver) return
    poll.open -= 1
    const vote = toVote(pinned.call, member, result)
    if (vote !== undefined) votes.push(vote)
    // A node's own error says more than that there is none.
    else if (poll.failure === undefined || isRejection(poll.failure)) poll.failure = result
    decide(poll)
  })
}

/** Asks one more node. @returns Whether there was one. */
const askOneMore = (poll: Poll): boolean => {
  const member = pick(poll)
  if (member !== undefined) ask(poll, member)
  return member !== undefined
}

/** Ends the poll if enough nodes agree, or cannot agree any more; else replaces nodes that failed, and asks one more if the others disagree. */
const decide = (poll: Poll): void => {
  const { rule, votes } = poll
  const groups = groupVotes(votes, isSame)
  const most = groups[0]?.length ?? 0
  if (most >= rule.nodes) {
    endAgreed(poll, groups)
    return
  }
  const mayAgree = canAgree({ nodes: rule.nodes, votes: votes.length, most, open: poll.open })
  while (mayAgree && most + poll.open < rule.nodes) if (!askOneMore(poll)) break
  if (most + poll.open >= rule.nodes) return
  // Those in flight decide whether it is a dispute, and what the caller gets if none says anything.
  if (poll.open > 0 && groups.length < 2) return
  if (!mayAgree || !(isDrawing(poll) || isRefreshing(poll))) endOpen(poll, groups)
}

/** Waits for room in the budget of one more node, and decides again then. @returns Whether that is not over yet. */
const isDrawing = (poll: Poll): boolean => {
  const room = poll.room === 'due' ? drawWithin(poll.scope, getNeeds(poll), poll) : undefined
  if (room !== undefined) {
    poll.room = 'running'
    void room.then((hasRoom) => {
      poll.room = hasRoom ? 'due' : 'over'
      if (!poll.isOver) decide(poll)
    })
  }
  return poll.room === 'running'
}

/** Queries the heads of nodes that seem to be behind, once, and decides again then. @returns Whether that is not over yet. */
const isRefreshing = (poll: Poll): boolean => {
  const { minHead, scope } = poll
  if (poll.refresh === 'due' && minHead !== undefined) {
    poll.refresh = 'running'
    void scope.group.refreshHeads(minHead).then(() => {
      poll.refresh = 'over'
      if (!poll.isOver) decide(poll)
    })
  }
  return poll.refresh === 'running'
}

const endAgreed = (poll: Poll, groups: readonly EqualVotes<Vote>[]): void => {
  const [agreed, ...others] = groups
  if (agreed === undefined) return
  // A node that is a block behind has no receipt yet, and is not wrong. Nor is one that has it first.
  if (!isNull(agreed[0].result.value))
    for (const { member, result } of others.flat()) if (!isNull(result.value)) member.disputes.add()
  if (others.length > 0) report(poll, 'outvoted', groups)
  recordBlocks(poll.pinned, poll.scope)
  end(poll, others.length > 0 ? 'outvoted' : 'agreed', toConfirmed(poll, agreed), agreed[0].member)
}

/** Ends a poll without enough equal votes. */
const endOpen = (poll: Poll, groups: readonly EqualVotes<Vote>[]): void => {
  const { rule, failure, votes, pinned } = poll
  const [first, second] = groups
  if (first === undefined) {
    end(poll, 'few', failure ?? rejections.tooFewNodes(rule.nodes, 0))
    return
  }
  const isDispute = second !== undefined
  if (isDispute) report(poll, 'disagreed', groups)
  const outcome = isDispute ? 'disagreed' : 'few'
  if ((isDispute ? rule.onDispute : rule.onFew) === 'serve')
    end(poll, outcome, toConfirmed(poll, first), first[0].member)
  else if (isDispute) end(poll, outcome, rejections.nodesDisagree(rule.nodes, getBlock(pinned)))
  else end(poll, outcome, rejections.tooFewNodes(rule.nodes, votes.length))
}

/** Gets the first of equal votes, with what confirms it. */
const toConfirmed = ({ pinned }: Poll, votes: EqualVotes<Vote>): CallResult => ({
  ...votes[0].result,
  confirmed: { nodes: votes.length, block: getBlock(pinned) },
})

const getBlock = ({ blocks }: PinnedCall): number | undefined =>
  blocks.size === 0 ? undefined : Math.max(...blocks.values())

const report = (
  { scope, pinned }: Poll,
  outcome: 'outvoted' | 'disagreed',
  groups: readonly EqualVotes<Vote>[],
): void => scope.group.confirmations.report({ method: pinned.call.method, block: getBlock(pinned), outcome }, groups)

const end = (poll: Poll, outcome: ConfirmOutcome, result: CallResult, member?: GroupMember): void => {
  stop(poll)
  poll.scope.group.confirmations.count(outcome)
  poll.done(result, member)
}

const stop = (poll: Poll): void => {
  poll.isOver = true
  clearTimeout(poll.timer)
  poll.sender.stop()
}
