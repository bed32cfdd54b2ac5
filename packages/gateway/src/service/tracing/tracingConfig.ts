import { z } from 'zod'
import { flag, httpUrl, must, object } from '../../proxy/options/fields.ts'
import { headers } from '../networksConfig.ts'

const ratioMessage = 'must be a number from 0 to 1'

/** The schema of `tracing`. */
export const tracing = object({
  endpoint: httpUrl(
    'must be the http or https URL of an OpenTelemetry collector, such as "http://127.0.0.1:4318"',
  ).describe(
    'The URL of a collector that accepts OTLP over HTTP. Without a path, `/v1/traces` is added. Without `tracing`, nothing is traced.',
  ),
  sampleRatio: z
    .number(must(ratioMessage))
    .min(0, ratioMessage)
    .max(1, ratioMessage)
    .default(0.01)
    .describe('The share of requests that are traced.'),
  trustCallers: flag()
    .default(false)
    .describe(
      'Whether the sampled flag of a caller that sends `traceparent` decides instead of `sampleRatio`. Only for callers that are all your own: any of them could have every request traced.',
    ),
  headers: headers()
    .exactOptional()
    .describe('Request headers for the collector. A value is a string, or `{ "file": PATH }`.'),
})
