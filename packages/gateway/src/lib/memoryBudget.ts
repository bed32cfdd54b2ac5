/** What all requests of one owner have in memory. */
export interface BufferShare {
  held: number
}

/** What one request has in memory: its body but for a small one, and nodes' answers that are not written yet. */
export interface BufferedBytes {
  /** How many bytes all requests of the process may have kept. */
  readonly most: number
  held: number
  /** Of who asks, once that is known. */
  share: BufferShare | undefined
  /** The request is over: what is still read goes to others, who count it themselves. */
  over: boolean
}

/** One for all gateways of a process, as they share its memory. */
let bufferedByAll = 0

/** How many bytes all requests of the process keep at the moment. */
export const allBufferedBytes = (): number => bufferedByAll

/** Owners known before those are let go that keep nothing. */
const fewOwners = 10_000
let shares = new Map<string, BufferShare>()
let sweepAt = fewOwners

/** The share of an owner: the same for all that it has in flight. One that keeps nothing may be made anew. */
export const getBufferShare = (ownerId: string): BufferShare => {
  const known = shares.get(ownerId)
  if (known !== undefined) return known
  if (shares.size >= sweepAt) {
    shares = new Map([...shares].filter(([, { held }]) => held > 0))
    sweepAt = Math.max(fewOwners, shares.size * 2)
  }
  const share: BufferShare = { held: 0 }
  shares.set(ownerId, share)
  return share
}

/**
 * Counts bytes that are to be kept. An owner may have as many as are left for all: alone half of them, one of two that want all they
 * can get a third. So there is room for whoever comes, however much others keep.
 * @returns False where there is no room for them: then they are not counted, and must not be kept.
 */
export const holdBytes = (kept: BufferedBytes | undefined, bytes: number): boolean => {
  if (kept === undefined || kept.over) return true
  const { share } = kept
  const left = kept.most - bufferedByAll - bytes
  if (left < 0 || (share !== undefined && share.held + bytes > left)) return false
  bufferedByAll += bytes
  kept.held += bytes
  if (share !== undefined) share.held += bytes
  return true
}

const drop = (kept: BufferedBytes, bytes: number): void => {
  bufferedByAll -= bytes
  kept.held -= bytes
  if (kept.share !== undefined) kept.share.held -= bytes
}

/** Takes bytes off that are kept no longer. */
export const dropBytes = (kept: BufferedBytes | undefined, bytes: number): void => {
  if (kept !== undefined && !kept.over) drop(kept, bytes)
}

/** Takes all off that a request still keeps: it has been answered, or its caller is gone. */
export const dropAllBytes = (kept: BufferedBytes): void => {
  drop(kept, kept.held)
  kept.over = true
}
