import { z } from 'zod'
import { flag, httpUrl, must, object } from '../configSchema.ts'
import { headers } from '../upstreamConfig.ts'

const ratioMessage = 'must be a number from 0 to 1'

/** The schema of `tracing`. */
export const tracing = object({
  /** The URL of a collector that accepts OTLP over HTTP. Without a path, it is `/v1/traces`. */
  endpoint: httpUrl('must be the http or https URL of an OpenTelemetry collector, such as "http://127.0.0.1:4318"'),
  /** The share of requests that are traced, 0 to 1. @default 0.01 */
  sampleRatio: z.number(must(ratioMessage)).min(0, ratioMessage).max(1, ratioMessage).default(0.01),
  /** Whether the sampled flag of a caller that sends `traceparent` decides instead of `sampleRatio`. @default false */
  trustCallers: flag().default(false),
  /** Request headers for the collector: a text, or `{ "file": PATH }` for a file that holds it. Secrets. @default none */
  headers: headers.exactOptional(),
})
