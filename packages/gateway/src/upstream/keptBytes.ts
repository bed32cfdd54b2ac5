/** What one request has in memory: its body where that is large, and nodes' answers that are not written yet. */
export interface KeptBytes {
  /** How many bytes all requests of the process may have kept. */
  readonly most: number
  held: number
  /** The request is over: what is still read goes to others, who count it themselves. */
  over: boolean
}

/** One for all gateways of a process, as they share its memory. */
let keptByAll = 0

/** How many bytes all requests of the process keep at the moment. */
export const allKeptBytes = (): number => keptByAll

/**
 * Counts bytes that are to be kept.
 * @returns False where there is no room for them: then they are not counted, and must not be kept.
 */
export const keepBytes = (kept: KeptBytes | undefined, bytes: number): boolean => {
  if (kept === undefined || kept.over) return true
  if (keptByAll + bytes > kept.most) return false
  keptByAll += bytes
  kept.held += bytes
  return true
}

/** Takes bytes off that are kept no longer. */
export const dropBytes = (kept: KeptBytes | undefined, bytes: number): void => {
  if (kept === undefined || kept.over) return
  keptByAll -= bytes
  kept.held -= bytes
}

/** Takes all off that a request still keeps: it has been answered, or its caller is gone. */
export const dropAllBytes = (kept: KeptBytes): void => {
  keptByAll -= kept.held
  kept.held = 0
  kept.over = true
}
