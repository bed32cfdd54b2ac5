/** Methods that run transactions of the chain again, for which a node needs the state before them. */
export const replayMethods: ReadonlySet<string> = new Set([
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'debug_traceTransaction',
  'trace_block',
  'trace_get',
  'trace_replayBlockTransactions',
  'trace_replayTransaction',
  'trace_transaction',
])
