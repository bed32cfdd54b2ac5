/** A part of what a caller sent. */
export interface FramePart {
  readonly bytes: Buffer
  /** Whether it is stored until more arrives: it belongs to a message or a frame that is not complete. */
  readonly isStored: boolean
  /** Whether it completes a message of several parts, so that nothing of that is stored any more. */
  readonly isLast: boolean
  /** Whether it is of a control frame, which can come between the frames of a message. */
  readonly isControl: boolean
}

/** Finds where frames of a WebSocket start and end. */
export interface FrameScanner {
  /** Divides the next bytes into parts. Complete messages of one frame each stay together. After a close frame there are none. */
  readonly push: (chunk: Buffer) => readonly FramePart[]
}

/** The opcodes of control frames. */
const firstControl = 8
const close = 8

/** The longest header: two bytes, eight of the length, four of the mask. */
const maxHeaderBytes = 14

const getHeaderBytes = (header: Buffer): number => {
  const code = (header[1] as number) & 0x7f
  return 2 + (code === 126 ? 2 : code === 127 ? 8 : 0) + ((header[1] as number) & 0x80 ? 4 : 0)
}

const getPayloadBytes = (header: Buffer): number => {
  const code = (header[1] as number) & 0x7f
  return code < 126 ? code : code === 126 ? header.readUInt16BE(2) : Number(header.readBigUInt64BE(2))
}

/**
 * Creates a scanner. It checks nothing: the library does.
 * @see RFC 6455 section 5.2
 */
export const createFrameScanner = (): FrameScanner => {
  const header = Buffer.alloc(maxHeaderBytes)
  let headerBytes = 0
  /** The rest of the payload of the current frame. */
  let left = 0
  let isFinal = false
  /** Whether a frame of the message that is not complete was read before. */
  let isFragmented = false
  let isClosed = false

  const getOpcode = (): number => (header[0] as number) & 0x0f
  const isControl = (): boolean => getOpcode() >= firstControl
  const isHeaderComplete = (): boolean => headerBytes >= 2 && headerBytes === getHeaderBytes(header)
  /** Reads the header from `at` on. @returns Where it ends, or the end of the chunk. */
  const readHeader = (chunk: Buffer, at: number): number => {
    let next = at
    while (next < chunk.length && !isHeaderComplete()) {
      header[headerBytes] = chunk[next] as number
      headerBytes += 1
      next += 1
    }
    if (isHeaderComplete()) {
      left = getPayloadBytes(header)
      isFinal = ((header[0] as number) & 0x80) !== 0
    }
    return next
  }

  return {
    push: (chunk) => {
      const parts: FramePart[] = []
      let from = 0
      const add = (to: number, kind: 'whole' | 'stored' | 'last'): void => {
        if (to > from)
          parts.push({
            bytes: chunk.subarray(from, to),
            isStored: kind === 'stored',
            isLast: kind === 'last',
            isControl: isControl(),
          })
        from = to
      }
      for (let at = 0; at < chunk.length && !isClosed;) {
        const frameAt = at
        const isNew = headerBytes === 0
        if (!isHeaderComplete()) at = readHeader(chunk, at)
        const payloadAt = at
        if (!isHeaderComplete()) {
          add(frameAt, 'whole')
          add(at, 'stored')
          break
        }
        const end = Math.min(chunk.length, at + left)
        left -= end - at
        at = end
        const isComplete = left === 0 && (isControl() || isFinal)
        if (isComplete && isNew && (isControl() || !isFragmented)) {
          // It stays together with the frames before it.
        } else if (isComplete) {
          add(frameAt, 'whole')
          add(at, 'last')
        } else {
          // The library keeps the buffer of a payload that it receives alone.
          add(payloadAt, 'whole')
          add(at, 'stored')
        }
        if (left > 0) break
        headerBytes = 0
        if (!isControl()) isFragmented = !isFinal
        isClosed = getOpcode() === close
        if (isClosed) add(at, 'whole')
      }
      if (!isClosed) add(chunk.length, 'whole')
      return parts
    },
  }
}
