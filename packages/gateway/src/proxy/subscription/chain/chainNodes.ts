/** A node that blocks and logs are read from. */
export interface ChainNode {
  /**
   * Sends it a call.
   * @param params - Source text.
   * @returns The source text of the result.
   * @throws {ChainReadError} If it sends no result.
   */
  readonly call: (method: ChainMethod, params: string) => Promise<string>
}

/** The methods that the chain is read with. */
export type ChainMethod = 'eth_getBlockByNumber' | 'eth_getBlockByHash' | 'eth_getLogs' | 'eth_getBlockReceipts'

/** The nodes of a network: one is followed, until it fails. */
export interface ChainNodes {
  /** Gets the node that is followed; `undefined` if none is usable. */
  readonly followed: () => ChainNode | undefined
  /** Gets another usable node, if there is one. */
  readonly other: () => ChainNode | undefined
  /** Follows another node from now on: one that has the head, if it is known. @returns False if there is none. */
  readonly leave: () => boolean
  /** Call this with the number of the head that the followed node responded with. @returns Whether it is credible. */
  readonly sawHead: (number: number) => boolean
}

/** The chain could not be read: a node failed, lacks a block that it should have, or sent something else. Reading again may help. */
export class ChainReadError extends Error {
  override readonly name = 'ChainReadError'
  /** Whether the node failed, so that another one should be followed. */
  readonly isNodeFailure: boolean

  constructor(message: string, isNodeFailure = false) {
    super(message)
    this.isNodeFailure = isNodeFailure
  }
}
