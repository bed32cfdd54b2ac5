import type { LoggedRequest } from '../../storage/requestLog.ts'
import type { RequestEntryView } from '../contract/controlApi.d.ts'
import { isoTime } from './times.ts'

/** Converts a stored request to its API form. */
export const toRequestEntryView = (request: LoggedRequest): RequestEntryView => ({
  id: request.id,
  at: isoTime(request.at),
  method: request.method,
  outcome: request.outcome,
  code: request.code,
  message: request.message,
  status: request.status,
  durationMs: request.durationUs / 1_000,
  network: request.network,
  requestId: request.requestId,
  calls: request.calls,
  failedCalls: request.failedCalls,
  keyEnding: request.keyEnding,
  origin: request.origin,
  ipBlock: request.ipBlock,
  requestBytes: request.requestBytes,
  responseBytes: request.responseBytes,
  transport: request.transport,
})
