import type { CallScope } from '../upstream/callScope.ts'
import type { UpstreamGroup } from '../upstream/createUpstreamGroup.ts'
import { blockHeader, parseBlockHeader } from '../http/blockHeader.ts'
import type { CheckedRequest } from './requestContext.ts'

/** Creates the scope of a request's calls. */
export const toCallScope = ({ context, tenant, network, isBatch }: CheckedRequest): CallScope => {
  const { group, limits } = network
  const keyId = tenant.record.id
  const claimedHead = parseBlockHeader(context.caller.headers[requestBlockHeader])
  return {
    group,
    keyId,
    ownerId: tenant.ownerId,
    keyVersion: tenant.record.version,
    timeoutMs: limits.upstreamTimeoutMs,
    maxResponseBytes: limits.maxResponseBytes,
    budget: { left: limits.maxResponseBytes, buffered: context.buffered },
    seenHead: group.several ? getSeenHead(group, keyId, claimedHead) : undefined,
    claimedHead,
    streams: context.reply.streams && !isBatch,
    subscriptions: context.reply.subscriptions,
    trace: context.trace,
  }
}

const requestBlockHeader = blockHeader.toLowerCase()

/** The newest block that a caller has seen: in responses of the instances that share views, or according to its request header. */
const getSeenHead = ({ views }: UpstreamGroup, keyId: string, claimedHead: number | undefined): number | undefined => {
  const seen = views.getHead(keyId)
  return seen === undefined || claimedHead === undefined ? (seen ?? claimedHead) : Math.max(seen, claimedHead)
}
