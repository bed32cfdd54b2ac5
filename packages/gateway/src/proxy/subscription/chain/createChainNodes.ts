import { forwardCall } from '../../upstream/forwardCall.ts'
import type { UpstreamGroup } from '../../upstream/createUpstreamGroup.ts'
import type { GroupMember } from '../../upstream/groupMember.ts'
import { isExpensive } from '../../method/createMethodPolicy.ts'
import { ChainReadError } from './chainNodes.ts'
import type { ChainMethod, ChainNode, ChainNodes } from './chainNodes.ts'

/** The limits of the gateway's own calls. */
export interface ChainNodesOptions {
  /** The longest time of a call, in milliseconds. */
  readonly timeoutMs: number
  /** How large the response to a call may be. */
  readonly maxResponseBytes: number
}

/** A node that does not respond for this long is replaced by another one. */
const maxTimeoutMs = 5_000
/** The calls of all followers of a network wait in a queue of their own, beside those of keys. */
const holder = { keyId: 'subscriptions', ownerId: 'subscriptions' }

/**
 * Creates the access of a follower to the upstreams of its network. It stays with one node as long as that is healthy.
 * @param getGroup - Gets the upstreams: a reload replaces them. `undefined`: the network was removed.
 */
export const createChainNodes = (getGroup: () => UpstreamGroup | undefined, options: ChainNodesOptions): ChainNodes => {
  const { maxResponseBytes } = options
  const timeoutMs = Math.min(options.timeoutMs, maxTimeoutMs)
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

  const getNode = (current: UpstreamGroup, of: GroupMember): ChainNode => {
    const known = nodes.get(of)
    if (known !== undefined) return known
    const node: ChainNode = {
      call: (method, params) =>
        new Promise((resolve, reject) => {
          const call = { method, params, traits: toTraits(method) }
          const budget = { left: maxResponseBytes }
          forwardCall(call, { group: current, ...holder, timeoutMs, budget, maxResponseBytes, only: of }, (result) => {
            if ('value' in result && result.member === 'result') resolve(result.value.toString())
            else reject(new ChainReadError(`${of.name} sent no result for ${method}`, !('member' in result)))
          })
        }),
    }
    nodes.set(of, node)
    return node
  }
  const pickOther = (current: UpstreamGroup | undefined): GroupMember | undefined =>
    current?.pick({ method: 'eth_getBlockByNumber', seenHead, tried: member === undefined ? [] : [member] })
  return {
    followed: () => {
      const current = useGroup()
      if (current === undefined) return undefined
      if (member?.health.isHealthy() === true) current.markUsed()
      else member = current.pick({ method: 'eth_getBlockByNumber', seenHead })
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
      if (member?.sawHead(number) !== false) seenHead = Math.max(seenHead, number)
    },
  }
}

const toTraits = (method: ChainMethod) =>
  ({ idempotent: true, expensive: isExpensive(method), weight: 1, label: method }) as const
