import { z } from 'zod'
import type { Network, NetworkDetails } from '../lib/network.ts'
import { dayMs } from '../lib/time.ts'
import { flag, httpUrl, must, object, choice, path, text, whole } from '../proxy/options/fields.ts'
import { gatewayShape } from '../proxy/options/gatewayShape.ts'
import { email } from './emailConfig.ts'
import { limits } from './limitsConfig.ts'
import { networkName, networks } from './networksConfig.ts'
import { oidc } from './oidcConfig.ts'
import { requestLogConfig } from './requestLogConfig.ts'
import { vendorKeys } from './vendorConfig.ts'
import { tracing } from './tracing/tracingConfig.ts'

const maxDays = 3_650
/** Ten minutes: longer than any load balancer needs to notice. */
export const maxDrainDelayMs = 600_000

/** Any other text has the error of `httpUrl` already. */
const parseHttpUrl = (given: string): URL | undefined => {
  const url = URL.parse(given)
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined
}

const publicUrl = () =>
  httpUrl('must be the http or https URL where callers reach the service, such as "https://rpc.example.org"')
    .refine((given) => {
      const url = parseHttpUrl(given)
      return url === undefined || `${url.search}${url.hash}${url.username}${url.password}` === ''
    }, 'must have no query, no fragment and no credentials')
    .refine(
      // The router, the cookies and the log-in would all have to know it.
      (given) => (parseHttpUrl(given)?.pathname ?? '/') === '/',
      'must have no path, because the dashboard works only at the root of a host. Give the service a host name of its own, such as "https://rpc.example.org" in place of "https://example.org/rpc"',
    )

const listen = (host: string, port: string) =>
  object({
    host: text('must be an interface to listen on, such as "127.0.0.1" or "0.0.0.0"')
      .default('127.0.0.1')
      .describe(host),
    port: whole(0, 65_535).describe(port),
  })

const days = (defaultDays: number, what: string) =>
  whole(1, maxDays).default(defaultDays).describe(`For how many days ${what} stored.`)

/**
 * The schema of the config file. An option is written here and nowhere else: types, JSON Schema, the reference page and every check come from it.
 * A description is a cell of `docs/reference/configuration.md`. Its last sentence, `Default: …`, describes a default that is not a value.
 */
export const serviceConfigSchema = object({
  $schema: z.string().exactOptional().describe('The JSON Schema for your editor. The service does not read it.'),
  publicUrl: publicUrl().describe(
    'The http or https URL where callers reach the service. Endpoints start with it, and the dashboard responds only to its host: 421 to any other. Without a path: use a host name of its own.',
  ),
  listen: listen(
    'The interface to listen on. In a container, use `0.0.0.0`.',
    'The port. 0 picks a free one. Required if the config has `listen`.',
  ).prefault({ port: 8080 }),
  tls: object({
    certFile: path('a certificate chain in PEM').describe(
      'A certificate chain in PEM. With it, the service serves https. Renewed files are loaded without a restart. Without `tls`, put a proxy with TLS in front.',
    ),
    keyFile: path('its private key in PEM').describe('The private key of `tls.certFile`, in PEM.'),
  }).exactOptional(),
  control: object({
    publicUrl: publicUrl().describe(
      'The URL of the dashboard and the control API. By default they share the port of the networks; with `control`, they have their own.',
    ),
    listen: listen(
      'The interface of the dashboard and the control API.',
      'The port of the dashboard and the control API.',
    ),
  }).exactOptional(),
  prometheus: listen(
    'The interface of [`/metrics`](../service/monitoring.md#metrics). On 127.0.0.1, it only responds to host names of this machine.',
    'The port of `/metrics`. Without `prometheus`, there is no metrics endpoint.',
  ).exactOptional(),
  dashboard: object({
    folder: path('the folder with the built pages').describe(
      'A folder with other dashboard pages than those of the `keyrail` command.',
    ),
  }).exactOptional(),
  networks,
  vendors: vendorKeys
    .exactOptional()
    .describe(
      'The keys of [vendors](../service/vendors.md). Each adds a node to every network of the config that it serves.',
    ),
  chains: z
    .record(
      networkName(),
      object({
        title: text('must be the name of the chain, such as "Ethereum"', 64).describe(
          'The name of a chain that people read.',
        ),
        aliases: z
          .array(text('must be another name of the chain', 64), must('must be a list of names'))
          .readonly()
          .default([])
          .describe('Other words to find the chain by.'),
      }),
      must('must be an object with a chain for each name'),
    )
    .default({}),
  signUp: choice(['open', 'invite', 'closed'])
    .default('closed')
    .describe('Who can sign up: anyone, people with an invite, or nobody.'),
  reveal: choice(['onDemand', 'never'])
    .default('onDemand')
    .describe(
      '`onDemand`: users can show a key again after they enter their password. `never`: the service stores no copy of new keys.',
    ),
  staleKeysForMs: whole(0, dayMs)
    .default(600_000)
    .describe('How long known keys work while the database is unavailable.'),
  maxCachedKeys: whole(1_000, 10_000_000)
    .default(100_000)
    .describe(
      'How many keys are in memory, and as many unknown ones. An API key takes about 0.7 KB, an app with two entries on its allow lists about 2.2 KB. Raise it if `keyrail_key_cache_misses_total` grows while the cache is full.',
    ),
  registries: object({
    npm: httpUrl('must be the http or https URL of an npm registry')
      .exactOptional()
      .describe(
        'The URL of an npm registry. The dashboard shows `npm install` only for packages that it has, and otherwise how to build them from the repository.',
      ),
    pypi: httpUrl('must be the http or https URL of a Python package index')
      .exactOptional()
      .describe('The same for a Python package index and `pip install`.'),
  }).prefault({}),
  docsUrl: httpUrl("must be the http or https URL of Keyrail's documentation")
    .exactOptional()
    .describe(
      "The URL of Keyrail's documentation, as `npm run docs:build` builds it. Each page of the dashboard then links to it.",
    ),
  ...gatewayShape,
  limits,
  outageGrant: whole(0, 1_000_000)
    .default(500)
    .describe(
      'Units granted to a quota and day while Redis is unavailable, or PostgreSQL if there is no Redis: [how limits are counted](../service/limits.md#how-limits-are-counted). 0 grants none.',
    ),
  storage: object({
    file: path('the SQLite file').describe(
      'The path of the SQLite file. `storage` is required without `DATABASE_URL`.',
    ),
  }).exactOptional(),
  cache: object({
    file: path('the file of the chain store')
      .describe(
        'The path of the [chain store](../service/chain-store.md): results that can no longer change, so that nodes are asked for them once. Instances of one machine can share the file. Required in `cache` without `CACHE_REDIS_URL`.',
      )
      .exactOptional(),
    maxBytes: whole(16 * 1024 * 1024, Number.MAX_SAFE_INTEGER)
      .default(10_000_000_000)
      .describe('The size of the file. Above it, what was not used for longest is deleted.'),
    confirm: flag()
      .default(false)
      .describe(
        'Whether a result is served from the chain store only after a second, [independent](../service/confirmed-reads.md#independent-nodes) node has sent the same: see [confirmed results](../service/chain-store.md#confirmed-results). Each result that is stored then costs two calls at nodes.',
      ),
  }).exactOptional(),
  postgres: object({
    maxConnections: whole(1, 1_000)
      .default(10)
      .describe(
        'Most connections to PostgreSQL of this instance. All instances together must stay below `max_connections` of the server.',
      ),
    transactionPooler: flag()
      .default(false)
      .describe(
        'Set it behind a pooler in transaction mode, such as [PgBouncer](../service/running.md#poolers-and-failover).',
      ),
  }).prefault({}),
  retention: object({
    minutesDays: days(8, 'metrics by the minute are'),
    hoursDays: days(90, 'metrics by the hour are'),
    daysDays: days(730, 'metrics by the day are'),
    auditDays: days(400, 'the audit log is'),
    requestsDays: days(3, 'the request log is'),
  }).prefault({}),
  oidc: oidc.exactOptional(),
  passwordLogin: flag()
    .default(true)
    .describe('Whether users can sign up, log in and reset their account with a password. `false` requires `oidc`.'),
  requireSecondFactor: choice(['operators', 'all'])
    .exactOptional()
    .describe(
      'Who must have a [second factor](../service/second-factor.md): operators, or all users. Until they add one, their sessions can do nothing else. Access tokens and keys work.',
    ),
  email: email.exactOptional(),
  webhooks: object({
    allowPrivateAddresses: flag()
      .default(false)
      .describe("Allows users' webhooks to use plain http and addresses in private networks and on this machine."),
  }).prefault({}),
  requestLog: requestLogConfig,
  tracing: tracing.exactOptional(),
  drainDelayMs: whole(0, maxDrainDelayMs)
    .exactOptional()
    .describe(
      'How long the service accepts calls after SIGTERM while `/readyz` responds with 503: see [stopping](../service/operating.md#stopping-and-starting). Default: `KEYRAIL_DRAIN_DELAY_MS`, else `5000`.',
    ),
})

type DeepReadonly<T> = T extends object ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> } : T

/** The config of a service, with all defaults filled in. `parseServiceConfig` and `readServiceConfig` create it. */
export type ServiceConfig = Omit<DeepReadonly<z.infer<typeof serviceConfigSchema>>, 'networks'> & {
  readonly networks: Readonly<Record<Network, ServiceNetwork>>
}

type NetworkInput = DeepReadonly<z.infer<typeof networks>[string]>

/** A network of a config, with all that is known about it. */
export type ServiceNetwork = Omit<NetworkInput, keyof NetworkDetails> & NetworkDetails

/** A config file. `publicUrl` and `networks` are required. */
export type ServiceConfigInput = DeepReadonly<z.input<typeof serviceConfigSchema>>
