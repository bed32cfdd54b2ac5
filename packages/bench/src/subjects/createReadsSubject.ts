import type { Subject } from './subject.ts'

/** The reads of the workloads, as functions of a library. */
export interface Reads {
  readonly balance: (account: string) => Promise<unknown>
  readonly blockByHash: (hash: string) => Promise<unknown>
  /** Reads a block with full transactions. */
  readonly blockByNumber: (hex: string) => Promise<unknown>
  readonly logs: (range: { readonly fromBlock: string; readonly toBlock: string }) => Promise<unknown>
}

/** Creates a subject that uses the formatted reads of a library. Other subjects use its raw request. */
export function createReadsSubject({ balance, blockByHash, blockByNumber, logs }: Reads, close: () => void): Subject {
  const byMethod: Readonly<Record<string, (first: never) => Promise<unknown>>> = {
    eth_getBalance: balance,
    eth_getBlockByHash: blockByHash,
    eth_getBlockByNumber: blockByNumber,
    eth_getLogs: logs,
  }
  return {
    call: (method, [first]) => {
      const read = byMethod[method]
      return read ? read(first as never) : Promise.reject(new Error(`no read for ${method}`))
    },
    close,
  }
}
