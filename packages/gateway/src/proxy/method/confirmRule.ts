import type { OfferedMethod } from '../../lib/methods.ts'

/** How many independent nodes must agree on the result of a call, and what the caller gets if they do not. */
export interface ConfirmRule {
  /** From 2. */
  readonly nodes: number
  /** If they disagree: an error, or the response that most of them sent. */
  readonly onDispute: 'error' | 'serve'
  /** If fewer nodes respond: an error, or the response of those that did. */
  readonly onFew: 'error' | 'serve'
}

/**
 * Whether nodes can agree on the result of a method: it reads a block, a transaction or logs. The others are about the node itself, or about its
 * newest block. Of methods beyond the specification, all reads count.
 */
export const isConfirmable = (row: {
  readonly [name in keyof OfferedMethod]?: OfferedMethod[name] | undefined
}): boolean => {
  const { access, filter, subscription, service, block, blockHash, transaction, range } = row
  if (access !== 'read' || filter !== undefined || subscription === true) return false
  const names = block ?? blockHash ?? transaction ?? range
  return names !== undefined || service === undefined
}
