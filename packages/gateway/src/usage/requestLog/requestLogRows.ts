import type { Step } from '../../storage/database.ts'
import type { LoggedRequest, RequestExcerpts } from '../../storage/requestLog.ts'
import type { Db } from '../../storage/tables.ts'
import { toInserts, toStep } from '../metering/usageRows.ts'
import type { Insertion } from '../metering/usageRows.ts'

/** A request to store; its excerpts, if they are recorded. */
export interface RequestRow {
  readonly request: LoggedRequest
  readonly excerpts: RequestExcerpts | undefined
}

const requestInsertion: Insertion = {
  into: 'request_log',
  columns: [
    'key_id',
    'at',
    'id',
    'method',
    'outcome',
    'code',
    'message',
    'status',
    'duration_us',
    'network',
    'request_id',
    'calls',
    'failed_calls',
    'key_ending',
    'origin',
    'ip_block',
    'request_bytes',
    'response_bytes',
    'transport',
  ],
  conflict: 'do nothing',
}
const excerptsInsertion: Insertion = {
  into: 'request_excerpts',
  columns: ['key_id', 'at', 'id', 'params', 'response'],
  conflict: 'do nothing',
}

/** Builds the statements that write requests to the log. */
export const toRequestSteps = (kind: Db['kind'], rows: readonly RequestRow[]): readonly Step[] => [
  ...toInserts(
    kind,
    requestInsertion,
    rows.map(({ request }) => [
      request.keyId,
      request.at,
      request.id,
      request.method,
      request.outcome,
      request.code,
      request.message,
      request.status,
      request.durationUs,
      request.network,
      request.requestId,
      request.calls,
      request.failedCalls,
      request.keyEnding,
      request.origin,
      request.ipBlock,
      request.requestBytes,
      request.responseBytes,
      request.transport,
    ]),
  ),
  ...toInserts(
    kind,
    excerptsInsertion,
    rows.flatMap(({ request: { keyId, at, id }, excerpts }) =>
      excerpts === undefined ? [] : [[keyId, at, id, excerpts.params, excerpts.response]],
    ),
  ),
]

/** Builds the statement that removes the oldest requests of a key, so that at most `most` are left. */
export const toTrimStep = (kind: Db['kind'], { keyId, most }: { keyId: string; most: number }): Step =>
  toStep(
    kind,
    `delete from request_log where key_id = ? and (at, id) <= (
      select at, id from request_log where key_id = ? order by at desc, id desc limit 1 offset ?)`,
    [keyId, keyId, most],
  )
