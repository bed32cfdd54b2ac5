/** Small slices of small buffers are not worth a copy. */
const ignoredBytes = 4 * 1024

/** Copies bytes into a buffer of their own: of Node's pool, a byte would keep 8 kB. */
export const copyBytes = (bytes: Buffer): Buffer => {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

/**
 * Copies a slice that keeps more than twice its size in memory. A buffer stays in memory as long as any slice of it does: a byte of a body can be a
 * slice of the 64 kB that its sender filled with something else.
 */
export const unpin = (slice: Buffer): Buffer => {
  const pinned = slice.buffer.byteLength
  return pinned <= 2 * slice.length || pinned - slice.length <= ignoredBytes ? slice : copyBytes(slice)
}
