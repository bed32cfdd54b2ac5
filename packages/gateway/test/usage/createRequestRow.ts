import type { LoggedRequest } from '../../src/storage/requestLog.ts'
import { createLogId } from '../../src/usage/requestLog/logId.ts'
import type { RequestRow } from '../../src/usage/requestLog/requestLogRows.ts'

/** Creates a row of the request log: a failed `eth_call`, except for the given members. */
export const createRequestRow = (request: Partial<LoggedRequest>, excerpts?: RequestRow['excerpts']): RequestRow => {
  const { at = Date.now() } = request
  return {
    request: {
      keyId: 'key_1',
      at,
      id: createLogId(at),
      method: 'eth_call',
      outcome: 'nodeError',
      code: 3,
      message: 'execution reverted',
      revertData: null,
      status: 200,
      durationUs: 1_500,
      network: 'testnet',
      requestId: 'a-request',
      calls: 1,
      failedCalls: 1,
      storedCalls: 0,
      keyEnding: 'WXYZ',
      origin: 'https://dapp.example',
      ipBlock: '203.0.113.0/24',
      requestBytes: 100,
      responseBytes: 80,
      transport: 'http',
      ...request,
    },
    excerpts,
  }
}
