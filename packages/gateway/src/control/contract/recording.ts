import { z } from 'zod'

const recordDetails = z.boolean()

/** What the request log records of an app's or API key's requests. */
export const recording = {
  recordDetails: recordDetails.describe(
    'Whether the request log records excerpts of params and responses, for 24 hours.',
  ),
}

/** Changes of `recording`. */
export const recordingEdit = { recordDetails: recordDetails.exactOptional() }
