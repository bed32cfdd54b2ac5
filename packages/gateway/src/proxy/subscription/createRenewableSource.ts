import type { NodeSource } from './nodeSource.ts'

/** A source of nodes that can be replaced. */
export interface RenewableSource extends NodeSource {
  /** Replaces the nodes: listeners are moved to a new source. */
  readonly renew: () => void
}

/**
 * Creates a source whose nodes a reload of the config can replace.
 * @param create - Creates the source of the current nodes; `undefined` if there are none.
 */
export const createRenewableSource = (create: () => NodeSource | undefined): RenewableSource => {
  let source = create()
  /** Adds each listener to the current source. */
  const adders = new Map<object, (source: NodeSource) => () => void>()
  const removers = new Map<object, () => void>()
  const add = (adder: (source: NodeSource) => () => void): (() => void) => {
    const key = {}
    adders.set(key, adder)
    if (source !== undefined) removers.set(key, adder(source))
    return () => {
      adders.delete(key)
      removers.get(key)?.()
      removers.delete(key)
    }
  }
  return {
    onHead: (listener) => add((current) => current.onHead(listener)),
    onPendingTransactions: (listener) => add((current) => current.onPendingTransactions(listener)),
    onSyncing: (listener) => add((current) => current.onSyncing(listener)),
    renew: () => {
      for (const remove of removers.values()) remove()
      removers.clear()
      source?.close()
      source = create()
      if (source !== undefined) for (const [key, adder] of adders) removers.set(key, adder(source))
    },
    close: () => {
      adders.clear()
      removers.clear()
      source?.close()
      source = undefined
    },
  }
}
