import { z } from 'zod'
import { parseIpRange } from '../lib/ip/ipRange.ts'
import type { Network, NetworkDetails } from '../lib/network.ts'
import { flag, httpUrl, must, object, choice, path, text, whole } from './configSchema.ts'
import { bounds, limits } from './limitsConfig.ts'
import { email } from './emailConfig.ts'
import { oidc } from './oidcConfig.ts'
import { requestLog } from './requestLogConfig.ts'
import { tracing } from './tracing/tracingConfig.ts'
import { networkName, networks } from './upstreamConfig.ts'
import { webSocket } from './webSocketConfig.ts'

const maxDays = 3_650
const dayMs = 24 * 60 * 60 * 1_000
/** Ten minutes: longer than any load balancer needs to notice. */
export const maxDrainDelayMs = 600_000

const publicUrl = httpUrl('must be the http or https URL where callers reach the service').refine((given) => {
  const url = URL.parse(given)
  return url !== null && `${url.search}${url.hash}${url.username}${url.password}` === ''
}, 'must have no query, no fragment and no credentials')

const host = () => text('must be an interface to listen on, such as "127.0.0.1" or "0.0.0.0"')
const listen = object({
  /** An interface of this machine. @default '127.0.0.1' */
  host: host().default('127.0.0.1'),
  /** 0 picks a free port. */
  port: whole(0, 65_535),
})

/** The schema of the config file, with all defaults. */
export const serviceConfigSchema = object({
  /** For editors; not read. */
  $schema: z.string().exactOptional(),
  /** The URL that callers use. Endpoints start with it, and the dashboard only responds to its host. */
  publicUrl,
  /** @default port 8080 of 127.0.0.1 */
  listen: listen.prefault({ port: 8080 }),
  /** PEM files. With them the service serves https. @default none: http */
  tls: object({
    certFile: path('a certificate chain in PEM'),
    keyFile: path('its private key in PEM'),
  }).exactOptional(),
  /** Moves `/api` and the dashboard to their own port. @default the port of the networks */
  control: object({ publicUrl, listen }).exactOptional(),
  /** The address of `/metrics` for Prometheus. @default not served */
  prometheus: listen.exactOptional(),
  /** The collector for spans of traced requests. @default requests are not traced */
  tracing: tracing.exactOptional(),
  /** The SMTP server for emails that confirm addresses, reset passwords and invite people. @default no emails are sent */
  email: email.exactOptional(),
  /** The OpenID Connect provider that users can log in with. @default none: users log in by password */
  oidc: oidc.exactOptional(),
  /** Whether users can log in, sign up and reset their password by password. `false` needs `oidc`. @default true */
  passwordLogin: flag().default(true),
  /** The URLs that users have alerts sent to. */
  webhooks: object({
    /** Allows plain http, and addresses of private networks and of this machine. @default false */
    allowPrivateAddresses: flag().default(false),
  }).prefault({}),
  /** The SQLite file, used without `DATABASE_URL`. */
  storage: object({ file: path('the SQLite file') }).exactOptional(),
  postgres: object({
    /** The most connections that this instance opens. @default 10 */
    maxConnections: whole(1, 1_000).default(10),
    /** Whether `DATABASE_URL` is that of a pooler in transaction mode, such as PgBouncer. @default false */
    transactionPooler: flag().default(false),
  }).prefault({}),
  /** The folder of the built dashboard. @default the dashboard of the `keyrail` command */
  dashboard: object({ folder: path('the folder with the built pages') }).exactOptional(),
  /** Proxies whose `X-Forwarded-For` and `X-Request-Id` headers are trusted: IP addresses and ranges. @default none */
  trustedProxies: z
    .array(
      text('must be an IP address or a range, such as "10.0.0.0/8"').superRefine((given, context) => {
        const parsed = parseIpRange(given)
        if ('fix' in parsed) context.addIssue({ code: 'custom', message: parsed.fix })
      }),
      must('must be a list of IP addresses and ranges'),
    )
    .readonly()
    .default([]),
  /** Who can sign up: everyone, invited people, or nobody. @default 'closed' */
  signUp: choice(['open', 'invite', 'closed']).default('closed'),
  /** Whether API keys can be shown again. With `never`, no sealed copy of new keys is stored. @default 'onDemand' */
  reveal: choice(['onDemand', 'never']).default('onDemand'),
  /**
   * Package registries. The dashboard shows `npm install` and `pip install` only for packages of Keyrail that they have; for others, it shows how
   * to build them from the repository. The service queries them at most every 10 minutes. @default none
   */
  registries: object({
    /** The URL of an npm registry. */
    npm: httpUrl('must be the http or https URL of an npm registry').exactOptional(),
    /** The URL of a Python package index. */
    pypi: httpUrl('must be the http or https URL of a Python package index').exactOptional(),
  }).prefault({}),
  /**
   * The URL of Keyrail's documentation, as `npm run docs:build` builds it: the dashboard links to its pages.
   * @default none: the dashboard has no such links
   */
  docsUrl: httpUrl("must be the http or https URL of Keyrail's documentation").exactOptional(),
  /** The networks by name. A name is a part of URLs: `{publicUrl}/{network}/v2/{key}`. */
  networks,
  /** Titles and search words of chains that several networks share, by the `chain` of these. @default those of well-known chains */
  chains: z
    .record(
      networkName(),
      object({
        title: text('must be the name of the chain, such as "Ethereum"', 64),
        /** Other names to find it by. @default none */
        aliases: z
          .array(text('must be another name of the chain', 64), must('must be a list of names'))
          .readonly()
          .default([]),
      }),
      must('must be an object with a chain for each name'),
    )
    .default({}),
  /** Hosts that each mean a network, such as `{network}.rpc.example.org`: its paths are `/v2/{key}` and `/{key}`. @default none */
  networkHosts: z
    .string(must('must be a host name that starts with {network}'))
    .regex(
      /^\{network\}(?:\.[a-z0-9-]+)+$/i,
      'must be a host name that starts with {network}, as in "{network}.rpc.example.org"',
    )
    .exactOptional(),
  /**
   * Method groups offered besides `eth_`, `net_` and `web3_`, and whether callers may send their own tracers: JavaScript programs that run
   * inside the nodes. Don't allow tracers for an app with an address list. @default none
   */
  services: object({
    debug: flag().default(false),
    trace: flag().default(false),
    txpool: flag().default(false),
    javascriptTracers: flag().default(false),
  }).prefault({}),
  /** The limits of accounts for which the operator set no others; `null` is no limit. */
  limits,
  /** Size and time limits of requests: see `GatewayLimits`. */
  bounds,
  /** WebSockets: see `WebSocketOptions`. */
  webSocket,
  /** Whether responses of 1 KiB or more are compressed for callers that accept brotli or gzip. @default true */
  compression: flag().default(true),
  /** The HTTP status of a call over its quota. @default 403 */
  quotaStatus: z.literal([403, 429], must('must be 403 or 429')).default(403),
  /** How many units may be granted to an account and day while Redis, or without Redis PostgreSQL, is lost. @default 500 */
  outageGrant: whole(0, 1_000_000).default(500),
  /** How long known keys stay valid while the database is unavailable, in milliseconds. @default 600_000 (10 minutes) */
  staleKeysForMs: whole(0, dayMs).default(600_000),
  /** How many keys are in memory at most, and as many unknown ones. An API key takes about 0.7 KB, an app 2 KB or more. @default 100_000 */
  maxCachedKeys: whole(1_000, 10_000_000).default(100_000),
  /** For how many days to store metrics by the minute, the hour and the day, the audit log, and the request log. @default 8, 90, 730, 400, and 3 */
  retention: object({
    minutesDays: whole(1, maxDays).default(8),
    hoursDays: whole(1, maxDays).default(90),
    daysDays: whole(1, maxDays).default(730),
    auditDays: whole(1, maxDays).default(400),
    requestsDays: whole(1, maxDays).default(3),
  }).prefault({}),
  /** The request log of apps and API keys: failed requests, and a sample of the others. */
  requestLog,
  /** Whether to log each request. @default true */
  logRequests: flag().default(true),
  /**
   * How long the service accepts requests after SIGTERM while `/readyz` responds with 503, in milliseconds.
   * @default KEYRAIL_DRAIN_DELAY_MS; else 5000 with a config file, and 0 with `createService`
   */
  drainDelayMs: whole(0, maxDrainDelayMs).exactOptional(),
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
