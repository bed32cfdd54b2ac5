/** A piece costs about as much as a fifth of this besides its bytes. Smaller ones are put together. */
const smallPiece = 1024
const joinedBytes = 4 * 1024

/** Keeps the pieces of a body. What comes in crumbs takes no more memory than what comes whole. */
export interface Chunks {
  readonly add: (piece: Buffer) => void
  /** All of them as one. To be called once, at the end. */
  readonly join: () => Buffer
}

/**
 * Begins to keep pieces.
 * @param first - The first: most bodies have no other, and need none of this.
 */
export const createChunks = (first: Buffer): Chunks => {
  const pieces = [first]
  let crumbs: Buffer | undefined
  let used = 0
  const sweepUp = (): void => {
    if (crumbs !== undefined && used > 0) pieces.push(Buffer.from(crumbs.subarray(0, used)))
    used = 0
  }
  return {
    add: (piece) => {
      if (piece.length >= smallPiece) {
        sweepUp()
        pieces.push(piece)
        return
      }
      crumbs ??= Buffer.allocUnsafeSlow(joinedBytes)
      if (used + piece.length > joinedBytes) sweepUp()
      used += piece.copy(crumbs, used)
    },
    join: () => {
      sweepUp()
      return Buffer.concat(pieces)
    },
  }
}
