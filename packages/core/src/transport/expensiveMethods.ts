/** Methods that may take a node seconds: they have more time, are not joined into batches, and their pace says nothing of an endpoint's. */
export const expensiveMethods: RegExp = /^(eth_getLogs$|eth_simulateV1$|debug_|trace_)/
