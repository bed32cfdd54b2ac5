/** How many bytes all requests of one owner buffer. */
export interface BufferShare {
  held: number
}

/** The memory that one request uses: its body, unless that is small, and node responses that are not written yet. */
export interface BufferedBytes {
  /** How many bytes all requests of the process may buffer. */
  readonly most: number
  held: number
  /** The share of the key's owner, once the key is known. */
  share: BufferShare | undefined
  /** The request has ended. Responses that are still being read for it belong to other requests, which count them themselves. */
  over: boolean
}

/** Shared by all gateways of a process, as they share its memory. */
let bufferedByAll = 0

/** How many bytes all requests of the process buffer now. */
export const allBufferedBytes = (): number => bufferedByAll

/** Idle owners are dropped once there are this many owners. */
const minSharesToSweep = 10_000
let shares = new Map<string, BufferShare>()
let sweepAt = minSharesToSweep

/** Gets the share of an owner, which all its requests in flight use. A share that holds nothing may be replaced by a new one. */
export const getBufferShare = (ownerId: string): BufferShare => {
  const known = shares.get(ownerId)
  if (known !== undefined) return known
  if (shares.size >= sweepAt) {
    shares = new Map([...shares].filter(([, { held }]) => held > 0))
    sweepAt = Math.max(minSharesToSweep, shares.size * 2)
  }
  const share: BufferShare = { held: 0 }
  shares.set(ownerId, share)
  return share
}

/**
 * Reserves bytes to buffer. An owner may hold as many bytes as it leaves free: half of all if it is alone, a third if two owners want as many
 * as possible. So a new owner always finds room, however much others buffer.
 * @returns False if there is no room. Then nothing is reserved, and the bytes must not be buffered.
 */
export const holdBytes = (buffered: BufferedBytes | undefined, bytes: number): boolean => {
  if (buffered === undefined || buffered.over) return true
  const { share } = buffered
  const left = buffered.most - bufferedByAll - bytes
  if (left < 0 || (share !== undefined && share.held + bytes > left)) return false
  bufferedByAll += bytes
  buffered.held += bytes
  if (share !== undefined) share.held += bytes
  return true
}

const release = (buffered: BufferedBytes, bytes: number): void => {
  bufferedByAll -= bytes
  buffered.held -= bytes
  if (buffered.share !== undefined) buffered.share.held -= bytes
}

/** Releases bytes that are no longer buffered. */
export const dropBytes = (buffered: BufferedBytes | undefined, bytes: number): void => {
  if (buffered !== undefined && !buffered.over) release(buffered, bytes)
}

/** Releases everything that a request buffers. Call it when the request ends. */
export const dropAllBytes = (buffered: BufferedBytes): void => {
  release(buffered, buffered.held)
  buffered.over = true
}
