const finalText = 0x81

const getHeaderLength = (bytes: number): number => (bytes < 126 ? 2 : bytes < 65_536 ? 4 : 10)

/** @see RFC 6455 section 5.2: the length of the payload in 7, 7+16 or 7+64 bits, and no mask from a server. */
const writeHeader = (target: Buffer, at: number, bytes: number): number => {
  target[at] = finalText
  if (bytes < 126) target[at + 1] = bytes
  else if (bytes < 65_536) {
    target[at + 1] = 126
    target.writeUInt16BE(bytes, at + 2)
  } else {
    target[at + 1] = 127
    target.writeBigUInt64BE(BigInt(bytes), at + 2)
  }
  return at + getHeaderLength(bytes)
}

/** Creates the header of a WebSocket text frame of a server. @param bytes - The length of its payload. */
export const createFrameHeader = (bytes: number): Buffer => {
  const header = Buffer.allocUnsafe(getHeaderLength(bytes))
  writeHeader(header, 0, bytes)
  return header
}

/**
 * Writes WebSocket text frames of a server, one after another.
 * @param start - What every frame's text starts with, in ASCII.
 * @param ends - How each text ends, in UTF-8.
 */
export const toTextFrames = (start: string, ends: readonly Buffer[]): Buffer => {
  let length = 0
  for (const end of ends) length += getHeaderLength(start.length + end.length) + start.length + end.length
  const target = Buffer.allocUnsafe(length)
  let at = 0
  for (const end of ends) {
    at = writeHeader(target, at, start.length + end.length)
    at += target.write(start, at, 'latin1')
    at += end.copy(target, at)
  }
  return target
}
