/** How many bytes are buffered for one owner. */
export interface BufferShare {
  held: number
}

/**
 * What bytes are buffered for. `requests`: bodies, unless they are small, calls that wait for a slot, and node responses that are not written yet.
 * `messages`: WebSocket messages that have not arrived completely. `subscriptions`: their filters. `notifications`: those that their callers have
 * not read. `chain`: the gateway's own reads, and the blocks that subscriptions continue from.
 */
export type BufferKind = 'requests' | 'messages' | 'subscriptions' | 'notifications' | 'chain'

/** How much may be buffered. It is read each time, so the members of something that outlives a reload are getters. */
export interface BufferBounds {
  /** How many bytes the process may buffer. */
  readonly most: number
  /** How many bytes one request, or one kind of one connection, may buffer. @default Infinity */
  readonly ownMost?: number
}

/** The memory of one request, or of one kind of one connection. */
export interface BufferedBytes {
  readonly kind: BufferKind
  readonly bounds: BufferBounds
  held: number
  /** The share of the key's owner, once the key is known. */
  share: BufferShare | undefined
  /** The request has ended. Responses that are still being read for it belong to other requests, which count them themselves. */
  over: boolean
}

/** Shared by all gateways of a process, as they share its memory. */
let bufferedByAll = 0
const bufferedByKind: Record<BufferKind, number> = {
  requests: 0,
  messages: 0,
  subscriptions: 0,
  notifications: 0,
  chain: 0,
}

/** How many bytes the process buffers now. */
export const allBufferedBytes = (): number => bufferedByAll

/** How many bytes the process buffers now, by what they are for. */
export const getBufferedByKind = (): Readonly<Record<BufferKind, number>> => ({ ...bufferedByKind })

/** Creates the memory of a request, or of one kind of a connection. It holds nothing yet. */
export const createBufferedBytes = (kind: BufferKind, bounds: BufferBounds, share?: BufferShare): BufferedBytes => ({
  kind,
  bounds,
  held: 0,
  share,
  over: false,
})

/** How many bytes this may buffer, even if the process has more room. */
export const getOwnMost = ({ bounds }: BufferedBytes): number => bounds.ownMost ?? Infinity

/** Owners without keys in memory and without connections are dropped once there are this many owners. */
const minSharesToSweep = 10_000
/** By owner. Weak, because connections use a share for hours: an owner with two shares could buffer twice as much. */
let shares = new Map<string, WeakRef<BufferShare>>()
let sweepAt = minSharesToSweep

/** Gets the share of an owner, which all its requests and connections use. */
export const getBufferShare = (ownerId: string): BufferShare => {
  const known = shares.get(ownerId)?.deref()
  if (known !== undefined) return known
  if (shares.size >= sweepAt) {
    shares = new Map([...shares].filter(([, share]) => share.deref() !== undefined))
    sweepAt = Math.max(minSharesToSweep, shares.size * 2)
  }
  const share: BufferShare = { held: 0 }
  shares.set(ownerId, new WeakRef(share))
  return share
}

/** How many bytes are buffered for the owner that has the most. @param except - Not this one. */
export const getLargestShare = (except: BufferShare): number => {
  let largest = 0
  for (const reference of shares.values()) {
    const share = reference.deref()
    if (share !== undefined && share !== except) largest = Math.max(largest, share.held)
  }
  return largest
}

/**
 * Reserves bytes to buffer. An owner may hold as many bytes as it leaves free: half of all if it is alone, a third if two owners want as many
 * as possible. So a new owner always finds room, however much others buffer.
 * @returns False if there is no room. Then nothing is reserved, and the bytes must not be buffered.
 */
export const holdBytes = (buffered: BufferedBytes | undefined, bytes: number): boolean => {
  if (buffered === undefined || buffered.over) return true
  const { share } = buffered
  const left = buffered.bounds.most - bufferedByAll - bytes
  if (left < 0 || buffered.held + bytes > getOwnMost(buffered)) return false
  if (share !== undefined && share.held + bytes > left) return false
  bufferedByAll += bytes
  bufferedByKind[buffered.kind] += bytes
  buffered.held += bytes
  if (share !== undefined) share.held += bytes
  return true
}

const release = (buffered: BufferedBytes, bytes: number): void => {
  bufferedByAll -= bytes
  bufferedByKind[buffered.kind] -= bytes
  buffered.held -= bytes
  if (buffered.share !== undefined) buffered.share.held -= bytes
}

/** Releases bytes that are no longer buffered. */
export const dropBytes = (buffered: BufferedBytes | undefined, bytes: number): void => {
  if (buffered !== undefined && !buffered.over) release(buffered, bytes)
}

/** Releases everything that is held. Call it when the request or the connection ends. */
export const dropAllBytes = (buffered: BufferedBytes): void => {
  release(buffered, buffered.held)
  buffered.over = true
}
