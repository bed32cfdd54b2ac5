const finalText = 0x81

/**
 * Creates the header of a text frame that a server sends.
 * @param bytes - The length of its payload.
 * @see RFC 6455 section 5.2: the length in 7, 7+16 or 7+64 bits, and no mask from a server
 */
export const createFrameHeader = (bytes: number): Buffer => {
  if (bytes < 126) return Buffer.from([finalText, bytes])
  const header = Buffer.alloc(bytes < 65_536 ? 4 : 10)
  header[0] = finalText
  if (bytes < 65_536) {
    header[1] = 126
    header.writeUInt16BE(bytes, 2)
  } else {
    header[1] = 127
    header.writeBigUInt64BE(BigInt(bytes), 2)
  }
  return header
}
