import { isRejection } from '../../../errors/rejection.ts'
import type { CallerViews } from '../createCallerViews.ts'
import type { CallResult } from '../callResult.ts'
import { readErrorKind } from '../classifyFailure.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import { isNull } from '../getNullMeaning.ts'
import type { GroupMember } from '../groupMember.ts'
import type { LatestBlock, LatestFollower } from './followLatest.ts'
import { getPlan, planRead } from './planRead.ts'
import type { PlannedRead, ReadPlan } from './planRead.ts'
import { readShownBlock } from './readShownBlock.ts'

/** Who reads. */
interface ReadScope {
  readonly keyId: string
  /** The newest block that the caller says it has seen. */
  readonly claimedHead?: number | undefined
}

/** The reads at `latest` of a network, which callers share until the next block. */
export interface LatestReads {
  /**
   * Plans a read for the newest block.
   * @returns `undefined` if the call is sent as it is; a promise if nodes have to be queried first.
   */
  readonly plan: (call: ForwardedCall, scope: ReadScope) => PlannedRead | Promise<PlannedRead | undefined> | undefined
  /**
   * Handles the end of a planned read.
   * @param end.leftMs - The time that is left, in milliseconds.
   * @returns `undefined` if it has ended; else how it is sent again: `undefined` as it was.
   */
  readonly handleEnd: (
    sent: SentRead,
    end: { readonly result: CallResult; readonly scope: ReadScope; readonly leftMs: number },
  ) => Promise<PlannedRead | undefined> | undefined
  /** Records the blocks that a result shows to the callers of a key. */
  readonly recordShown: (call: ForwardedCall, result: CallResult, scope: ReadScope) => void
  /** Takes a block that a node has sent for another reason, before callers are shown it. */
  readonly adopt: (block: LatestBlock) => void
  readonly stop: () => void
}

/** A planned read that was sent. */
export interface SentRead {
  readonly planned: PlannedRead
  /** The call as it was. */
  readonly original: ForwardedCall
  /** How often it was sent before. */
  readonly attempt: number
}

/** Behind a load balancer, a node that has the block may respond the next time. With the waits between them, they take up to 2.6 seconds. */
const maxAttempts = 12
const getRetryMs = (attempt: number): number => 10 * 1.5 ** attempt

/**
 * Creates the shared reads of a network. Each read at `latest` is sent for one block, by its hash, so that no node can respond for an older one, and its
 * result is the same for all callers.
 */
export const createLatestReads = ({
  members,
  follower,
  views,
  isCredibleHead,
  maxLagBlocks,
}: {
  readonly members: readonly GroupMember[]
  readonly follower: LatestFollower
  readonly views: CallerViews<GroupMember>
  readonly isCredibleHead: (head: number) => boolean
  readonly maxLagBlocks: number
}): LatestReads => {
  const isOff = (): boolean => members.some(({ hashSupport }) => hashSupport?.isDevelopmentNode())
  const toPlanned = (call: ForwardedCall, plan: ReadPlan, block: LatestBlock | undefined): PlannedRead | undefined => {
    if (block === undefined || isOff()) return undefined
    if (plan === 'state' && !members.some(({ hashSupport }) => hashSupport?.isKnown())) return undefined
    return planRead(call, plan, block)
  }
  const retry = async ({ planned, original, attempt }: SentRead, keyId: string): Promise<PlannedRead> => {
    await sleep(getRetryMs(attempt))
    const need = views.getSeen(keyId)
    // The block may have been replaced. Most nodes are only late, so that is not asked each time.
    const since = performance.now()
    const found = attempt % 2 === 0 ? follower.get(need) : await follower.wait({ ...need, since }, 1)
    return planRead(original, planned.plan, found ?? planned.block)
  }
  return {
    plan: (call, { keyId, claimedHead = 0 }) => {
      const plan = isOff() ? undefined : getPlan(call)
      if (plan === undefined) return undefined
      const need = views.getSeen(keyId)
      const block = follower.get(need)
      if (block === undefined) return follower.wait(need, maxAttempts).then((found) => toPlanned(call, plan, found))
      // A caller can claim anything: only a block that a node will have soon counts, and nodes are queried for it once.
      const isClaimed = claimedHead > block.number && claimedHead - block.number <= maxLagBlocks
      if (!isClaimed) return toPlanned(call, plan, block)
      return follower.wait({ ...need, block: claimedHead }, 1).then((found) => toPlanned(call, plan, found))
    },
    handleEnd: (sent, { result, scope: { keyId }, leftMs }) => {
      const { planned, attempt } = sent
      const end = readEnd(planned, result)
      if (end === 'over') {
        if (planned.plan !== 'gas' && !isRejection(result)) views.recordHead(keyId, planned.block.number)
        return undefined
      }
      const mayRetry = end === 'unknownBlock' && attempt < maxAttempts && 2 * getRetryMs(attempt) < leftMs
      return mayRetry ? retry(sent, keyId) : Promise.resolve(undefined)
    },
    recordShown: (call, result, { keyId }) => {
      const shown = readShownBlock(call, result)
      if (shown === 'unread') views.recordUnread(keyId)
      else if (shown > views.getSeen(keyId).block && isCredibleHead(shown)) {
        views.recordHead(keyId, shown)
        follower.saw(shown)
      }
    },
    adopt: follower.adopt,
    stop: follower.stop,
  }
}

/** Reads how a planned read ended. `unknownBlock`: its node does not have the block. `failed`: the call may work as it was. */
const readEnd = ({ plan, call }: PlannedRead, result: CallResult): 'over' | 'unknownBlock' | 'failed' => {
  if (plan === 'gas' || plan === 'number' || 'stream' in result) return 'over'
  if (isRejection(result)) return nodeReasons.has(result.reason) ? 'failed' : 'over'
  if (result.member === 'result') return plan === 'block' && isNull(result.value) ? 'unknownBlock' : 'over'
  const kind = readErrorKind(result.value, call.method)
  if (kind === 'revert') return 'over'
  return unknownBlockKinds.has(kind) ? 'unknownBlock' : 'failed'
}

/** The rejections after which other nodes may respond to the call as it was. */
const nodeReasons: ReadonlySet<string> = new Set(['no_upstream', 'method_not_found', 'upstream_busy', 'upstream_bad'])

/** Geth's error for a block that was replaced is of no known kind. */
const unknownBlockKinds: ReadonlySet<string> = new Set(['lagging', 'missingData', 'unknown'])

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
