import { z } from 'zod'
import { parseIpRange } from '../../lib/ip/ipRange.ts'
import { bounds } from './bounds.ts'
import { flag, must, object, text } from './fields.ts'
import { webSocket } from './webSocketOptions.ts'

const offered = (description: string) => flag().default(false).describe(description)

/** The options of the config that concern all networks of the gateway. */
export const gatewayShape = {
  networkHosts: z
    .string(must('must be a host name that starts with {network}'))
    .regex(
      /^\{network\}(?:\.[a-z0-9-]+)+$/i,
      'must be a host name that starts with {network}, as in "{network}.rpc.example.org"',
    )
    .exactOptional()
    .describe(
      'A host name for each network, such as `{network}.rpc.example.org`: see [hosts](../service/networks.md#a-host-for-each-network).',
    ),
  trustedProxies: z
    .array(
      text('must be an IP address or a range, such as "10.0.0.0/8"').superRefine((given, context) => {
        const parsed = parseIpRange(given)
        if ('fix' in parsed) context.addIssue({ code: 'custom', message: parsed.fix })
      }),
      must('must be a list of IP addresses and ranges'),
    )
    .readonly()
    .default([])
    .describe(
      'The IP addresses and ranges of proxies whose `X-Forwarded-For` and [`X-Request-Id`](../service/monitoring.md#log) the service trusts. The log has a warning if a local proxy is missing here.',
    ),
  services: object({
    debug: offered('Offers `debug_*`.'),
    trace: offered('Offers `trace_*`.'),
    txpool: offered(
      'Offers `txpool_*`, which shows pending transactions of your nodes to all apps except those with an address list.',
    ),
    javascriptTracers: offered(
      'Lets callers send their own tracers, which are programs that run inside your nodes. Never applies to an app with an address list.',
    ),
  }).prefault({}),
  quotaStatus: z
    .literal([403, 429], must('must be 403 or 429'))
    .default(403)
    .describe('The HTTP status of a call over its quota. Common clients retry a 429 for minutes.'),
  bounds,
  webSocket,
  logRequests: flag().default(true).describe('Whether the log has a line for each request.'),
  cacheHeader: flag()
    .default(true)
    .describe(
      'Whether responses have the header `X-Keyrail-Cache`: with it, a caller sees whether others have read the same before. Only networks with a [chain store](../service/chain-store.md) have it.',
    ),
  compression: flag()
    .default(true)
    .describe(
      'Whether responses of 1 KiB or more are [compressed](../service/operating.md#compression) for callers that accept brotli or gzip.',
    ),
}
