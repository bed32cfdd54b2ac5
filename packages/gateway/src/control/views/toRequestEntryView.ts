import type { LoggedRequest } from '../../storage/requestLog.ts'
import { requestEntryView } from '../contract/requestLog.ts'
import type { RequestEntryView } from '../contract/controlApi.d.ts'
import { createView } from './createView.ts'

const toEntry = createView(requestEntryView)

/** Converts a stored request to its API form. */
export const toRequestEntryView = (request: LoggedRequest): RequestEntryView => ({
  ...toEntry(request),
  durationMs: request.durationUs / 1_000,
})
