import type { Subject } from './subject.ts'

/** What a library calls the reads of the workloads. */
export interface Reads {
  readonly balance: (account: string) => Promise<unknown>
  readonly blockByHash: (hash: string) => Promise<unknown>
  /** With whole transactions. */
  readonly blockByNumber: (hex: string) => Promise<unknown>
  readonly logs: (range: { readonly fromBlock: string; readonly toBlock: string }) => Promise<unknown>
}

/** A library by its own reads, formatting and all, where others are given by their raw request. */
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
      return read ? read(first as never) : Promise.reject(new Error(`no read stands for ${method}`))
    },
    close,
  }
}
