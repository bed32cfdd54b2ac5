import { monotonicClock } from '../../lib/clock.ts'
import { createRecentMap } from '../../lib/createRecentMap.ts'
import { forgetHeadMs } from '../../usage/limits/usageLimits.ts'
import type { CallerView } from '../../usage/limits/usageLimits.ts'

/** Remembers what the callers of each key have seen of a network, so that their next reads show nothing older. */
export interface CallerViews<Member> {
  /** The newest block that they have got; `undefined` if none is known. */
  readonly getHead: (keyId: string) => number | undefined
  /**
   * Records the head in a node's response.
   * @returns The head that the caller may get: the recorded one, or the one it got before if that is higher and not forgotten. `undefined`: heads
   * are not tracked.
   */
  readonly recordHead: (keyId: string, head: number) => number | undefined
  /** The node that took their last write, if that is recent; else `undefined`. */
  readonly getWriter: (keyId: string) => Member | undefined
  /** Call this when a node took a write. */
  readonly recordWrite: (keyId: string, member: Member) => void
  /**
   * Gets what the other instances do not know yet.
   * @param refreshMs - The head also counts if they know it from a response that is this much older, in milliseconds. @default they know it
   */
  readonly getNews: (keyId: string, refreshMs?: number) => CallerView | undefined
  /** Applies what all instances share. @returns Whether there was a write that this instance did not know. */
  readonly learn: (keyId: string, shared: CallerView) => boolean
}

interface Head {
  readonly block: number
  /** When a node last responded with this block or a higher one. */
  readonly at: number
}

interface Write<Member> {
  readonly id: number
  readonly node: string
  /** `undefined`: another instance wrote to a node that this one does not have. */
  readonly member: Member | undefined
  readonly at: number
}

interface View<Member> {
  head: Head | undefined
  write: Write<Member> | undefined
  /** What the other instances know, as far as this one knows. */
  sharedHead: Head | undefined
  sharedWrite: number | undefined
}

/** Longer than a transaction needs to reach other nodes, and than most block times. */
export const readOwnWritesMs = 15_000
const maxKeys = 10_000
const maxWriteId = 2 ** 48

/** Decides between two heads: the later one counts if it is higher, or if no node has had the other one for a while. */
const chooseHead = (one: Head, other: Head, forgetMs: number): Head => {
  const [earlier, later] = one.at <= other.at ? [one, other] : [other, one]
  return later.block >= earlier.block || later.at - earlier.at >= forgetMs ? later : earlier
}

/**
 * Creates the memory of what callers have seen. A key's reads go to the node that took its last write for 15 seconds, because other nodes may not
 * have the transaction yet. It has the 10,000 most recently used keys.
 * @param options.members - The nodes of the network. Instances know them by their names.
 * @param options.heads - `monotonic`: a lower head counts only once the higher one is `forgetMs` old; `latest`: at once; `none`: heads are not tracked.
 * @param options.forgetMs - In milliseconds. @default 10,000
 * @param options.now - A monotonic clock in milliseconds. @default performance.now
 */
export const createCallerViews = <Member extends { readonly name: string }>({
  members,
  heads,
  forgetMs = forgetHeadMs,
  now = monotonicClock(),
}: {
  members: readonly Member[]
  heads: 'monotonic' | 'latest' | 'none'
  forgetMs?: number
  now?: () => number
}): CallerViews<Member> => {
  const views = createRecentMap<View<Member>>(maxKeys)
  const getOrCreate = (keyId: string): View<Member> => {
    let view = views.get(keyId)
    if (view === undefined) {
      view = { head: undefined, write: undefined, sharedHead: undefined, sharedWrite: undefined }
      views.set(keyId, view)
    }
    return view
  }
  return {
    getHead: (keyId) => views.get(keyId)?.head?.block,
    recordHead: (keyId, block) => {
      if (heads === 'none') return undefined
      const view = getOrCreate(keyId)
      const head = { block, at: now() }
      view.head = view.head === undefined || heads === 'latest' ? head : chooseHead(view.head, head, forgetMs)
      return view.head.block
    },
    getWriter: (keyId) => {
      const write = views.get(keyId)?.write
      return write !== undefined && now() - write.at < readOwnWritesMs ? write.member : undefined
    },
    recordWrite: (keyId, member) => {
      const id = Math.floor(Math.random() * maxWriteId)
      getOrCreate(keyId).write = { id, node: member.name, member, at: now() }
    },
    getNews: (keyId, refreshMs = Infinity) => {
      const view = views.get(keyId)
      if (view === undefined) return undefined
      const { head, write, sharedHead, sharedWrite } = view
      const time = now()
      const isHeadNew =
        head !== undefined &&
        time - head.at < forgetMs &&
        (head.block !== sharedHead?.block || head.at - sharedHead.at >= refreshMs)
      const isWriteNew = write !== undefined && write.id !== sharedWrite && time - write.at < readOwnWritesMs
      if (!isHeadNew && !isWriteNew) return undefined
      return {
        head: isHeadNew ? { block: head.block, agoMs: Math.round(time - head.at) } : undefined,
        write: isWriteNew ? { id: write.id, node: write.node, agoMs: Math.round(time - write.at) } : undefined,
      }
    },
    learn: (keyId, { head, write }) => {
      const view = getOrCreate(keyId)
      const time = now()
      view.sharedHead = head && { block: head.block, at: time - head.agoMs }
      view.sharedWrite = write?.id
      if (view.sharedHead !== undefined)
        view.head = view.head === undefined ? view.sharedHead : chooseHead(view.head, view.sharedHead, forgetMs)
      if (write === undefined || write.id === view.write?.id) return false
      const at = time - write.agoMs
      if (view.write !== undefined && view.write.at >= at) return false
      const { id, node } = write
      view.write = { id, node, member: members.find(({ name }) => name === node), at }
      return true
    },
  }
}
