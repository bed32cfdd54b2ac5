import { createLimiter } from '../../../lib/createLimiter.ts'
import type { UpstreamGroup } from '../../upstream/createUpstreamGroup.ts'
import type { GroupMember } from '../../upstream/groupMember.ts'
import { isExpensive } from '../../method/createMethodPolicy.ts'
import { sendOwnRead } from '../ownReads.ts'
import type { ReadBounds } from '../ownReads.ts'
import { ChainReadError } from './chainNodes.ts'
import type { ChainMethod, ChainNode, ChainNodes } from './chainNodes.ts'

/** A node that does not respond for this long is replaced by another one. */
const maxTimeoutMs = 5_000
/** The most reads of a follower in flight. A response is in memory up to three times while it is parsed. */
const maxReads = 4
const megabyte = 1024 * 1024
/** The largest response of each method. A block is read with the hashes of its transactions: 60,000 fit. */
const maxBytes: Readonly<Record<ChainMethod, number>> = {
  eth_getBlockByNumber: 4 * megabyte,
  eth_getBlockByHash: 4 * megabyte,
  eth_getLogs: 32 * megabyte,
  eth_getBlockReceipts: 32 * megabyte,
}

/**
 * Creates the access of a follower to the upstreams of its network. It stays with one node as long as that is healthy.
 * @param getGroup - Gets the upstreams: a reload replaces them. `undefined`: the network was removed.
 */
export const createChainNodes = (getGroup: () => UpstreamGroup | undefined, bounds: ReadBounds): ChainNodes => {
  const limiter = createLimiter({ maxRunning: maxReads, maxQueued: Infinity })
  const nodes = new Map<GroupMember, ChainNode>()
  let group: UpstreamGroup | undefined
  let member: GroupMember | undefined
  let seenHead = 0

  const useGroup = (): UpstreamGroup | undefined => {
    const current = getGroup()
    if (current !== group) {
      nodes.clear()
      member = undefined
      group = current
    }
    return current
  }

  const send = (
    current: UpstreamGroup,
    of: GroupMember,
    { method, params }: { method: ChainMethod; params: string },
  ): Promise<{ readonly text: string } | { readonly isNodeFailure: boolean }> =>
    new Promise((resolve) => {
      const { maxBufferedBytes } = bounds
      const timeoutMs = Math.min(bounds.timeoutMs, maxTimeoutMs)
      const maxResponseBytes = Math.min(bounds.maxResponseBytes, maxBytes[method])
      const call = { method, params, traits: toTraits(method) }
      sendOwnRead(call, { group: current, timeoutMs, maxResponseBytes, maxBufferedBytes, only: of }, (result) => {
        if ('value' in result && result.member === 'result') resolve({ text: result.value.toString() })
        else resolve({ isNodeFailure: !('member' in result) })
      })
    })
  const getNode = (current: UpstreamGroup, of: GroupMember): ChainNode => {
    const known = nodes.get(of)
    if (known !== undefined) return known
    const node: ChainNode = {
      call: async (method, params) => {
        const read = await limiter.run(() => send(current, of, { method, params }))
        if (read !== 'full' && 'text' in read) return read.text
        throw new ChainReadError(`${of.name} sent no result for ${method}`, read !== 'full' && read.isNodeFailure)
      },
    }
    nodes.set(of, node)
    return node
  }
  const pickOther = (current: UpstreamGroup | undefined): GroupMember | undefined =>
    current?.pick({
      calls: [{ method: 'eth_getBlockByNumber' }],
      seenHead,
      tried: member === undefined ? [] : [member],
    })
  return {
    followed: () => {
      const current = useGroup()
      if (current === undefined) return undefined
      if (member?.health.isHealthy() === true) current.markUsed()
      else member = current.pick({ calls: [{ method: 'eth_getBlockByNumber' }], seenHead })
      return member === undefined ? undefined : getNode(current, member)
    },
    other: () => {
      const current = useGroup()
      const other = pickOther(current)
      return current === undefined || other === undefined ? undefined : getNode(current, other)
    },
    leave: () => {
      const other = pickOther(useGroup())
      member = other ?? member
      return other !== undefined
    },
    sawHead: (number) => {
      const isCredible = member?.sawHead(number) !== false
      if (isCredible) seenHead = Math.max(seenHead, number)
      return isCredible
    },
  }
}

const toTraits = (method: ChainMethod) =>
  ({ idempotent: true, expensive: isExpensive(method), weight: 1, label: method }) as const
