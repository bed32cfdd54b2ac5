import type { Step } from '../../storage/database.ts'
import type { LoggedRequest, RequestExcerpts } from '../../storage/requestLog.ts'
import type { Db } from '../../storage/tables.ts'
import { toInserts, toStep } from '../../storage/steps.ts'
import type { Insertion } from '../../storage/steps.ts'

/** A request to store; its excerpts, if they are recorded. */
export interface RequestRow {
  readonly request: LoggedRequest
  readonly excerpts: RequestExcerpts | undefined
}

const requestInsertion: Insertion<keyof LoggedRequest> = {
  into: 'request_log',
  columns: [
    'keyId',
    'at',
    'id',
    'method',
    'outcome',
    'code',
    'message',
    'revertData',
    'status',
    'durationUs',
    'network',
    'requestId',
    'calls',
    'failedCalls',
    'storedCalls',
    'keyEnding',
    'origin',
    'ipBlock',
    'requestBytes',
    'responseBytes',
    'transport',
  ],
  conflict: 'do nothing',
}
const excerptsInsertion: Insertion<'keyId' | 'at' | 'id' | keyof RequestExcerpts> = {
  into: 'request_excerpts',
  columns: ['keyId', 'at', 'id', 'params', 'response'],
  conflict: 'do nothing',
}

/** Builds the statements that write requests to the log. */
export const toRequestSteps = (kind: Db['kind'], rows: readonly RequestRow[]): readonly Step[] => [
  ...toInserts(
    kind,
    requestInsertion,
    rows.map(({ request }) => request),
  ),
  ...toInserts(
    kind,
    excerptsInsertion,
    rows.flatMap(({ request: { keyId, at, id }, excerpts }) =>
      excerpts === undefined ? [] : [{ keyId, at, id, ...excerpts }],
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
