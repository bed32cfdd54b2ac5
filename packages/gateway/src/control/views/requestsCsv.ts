import type { RequestEntryView } from '../contract/controlApi.d.ts'
import { toCsv } from './csv.ts'

const columns = [
  'at',
  'method',
  'outcome',
  'code',
  'message',
  'status',
  'durationMs',
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
  'id',
] as const satisfies readonly (keyof RequestEntryView)[]

/** Formats requests of the log as CSV with a header row. */
export const toRequestsCsv = (requests: readonly RequestEntryView[]): string =>
  toCsv([columns, ...requests.map((request) => columns.map((column) => request[column]))])
