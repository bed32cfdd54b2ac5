import { Agent, createServer, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { randomBytes } from 'node:crypto'
import type { WebhookResult } from '../../src/alerts/sendWebhook.ts'
import { createAccounts } from '../../src/control/account/createAccounts.ts'
import { createPasswordHasher } from '../../src/control/account/createPasswordHasher.ts'
import type { Accounts, SignUpMode } from '../../src/control/account/accounts.ts'
import type { ControlApi } from '../../src/control/contract/controlApi.d.ts'
import type { RouteName } from '../../src/control/contract/routeName.ts'
import { createControl } from '../../src/control/createControl.ts'
import { createOidcClient } from '../../src/oidc/createOidcClient.ts'
import type { OidcConfig } from '../../src/oidc/oidcClient.ts'
import type { ControlConfig, ControlLogEntry } from '../../src/control/controlOptions.ts'
import { createStoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import type { StoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import type { ServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import { createCallRates } from '../../src/service/createCallRates.ts'
import { createReadInstance } from '../../src/service/createReadInstance.ts'
import { createRecentEvents } from '../../src/service/createRecentEvents.ts'
import { removeRequests } from '../../src/usage/requestLog/requestLogUpkeep.ts'
import { createReadActivity } from '../../src/usage/metering/createReadActivity.ts'
import { createReadTraffic } from '../../src/usage/metering/createReadTraffic.ts'
import type { Metrics, MetricsQuery } from '../../src/usage/metering/metrics.ts'
import type { UsageLimits } from '../../src/usage/limits/usageLimits.ts'
import type { Change } from '../../src/storage/changes.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { cheap, newIp } from '../account/accountFixture.ts'
import { createInbox } from '../email/inbox.ts'
import { idleSources } from '../idleSources.ts'
import type { Inbox } from '../email/inbox.ts'
import type { TestDatabase } from '../storage/databases.ts'

/** A response of the control API. */
export interface TestResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed JSON body, if it is JSON. */
  readonly body: unknown
}

/** The input of a request, without members that the route does not have. */
export type Sent<Name extends RouteName> = {
  readonly [
    Part in 'params' | 'query' | 'body' as ControlApi[Name][Part] extends undefined ? never : Part
  ]?: ControlApi[Name][Part]
} & { readonly as?: Login | undefined; readonly headers?: Readonly<Record<string, string | undefined>> }

/** A request that is sent unchanged. */
export interface RawRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

/** The credential of a request: a cookie or a token; and the account that it acts for. */
export type Login = ({ readonly cookie: string } | { readonly bearer: string }) & { readonly account?: string }

/** A control API behind a real socket, with a clock and a configuration that tests can change. */
export interface StartedControl {
  readonly url: string
  readonly storage: Storage
  readonly accounts: Accounts
  readonly keys: StoredKeys
  readonly operatorToken: string
  readonly clock: { now: number }
  readonly config: { -readonly [Name in keyof ControlConfig]: ControlConfig[Name] }
  /** Off until a test turns it on. */
  readonly inbox: Inbox
  /** Single sign-on is off until a test sets a config. */
  readonly oidc: { config: OidcConfig | undefined }
  readonly secrets: [ServerSecret, ...ServerSecret[]]
  readonly logs: ControlLogEntry[]
  /** All responses: method, path, headers and body. */
  readonly seen: string[]
  readonly metricsQueries: MetricsQuery[]
  /** While set, metrics reads wait for it. */
  readonly held: { metrics?: Promise<void> }
  /** How the next test events of webhooks end. */
  readonly webhookResult: { next: WebhookResult }
  /** The invalidated keys. */
  readonly forgotten: Change[]
  call<Name extends RouteName>(name: Name, sent?: Sent<Name>): Promise<TestResponse>
  /** Sends a request that a typed client could not send. */
  raw(path: string, request?: RawRequest): Promise<TestResponse>
  close(): Promise<void>
}

/** Uses node:http, because fetch does not allow setting Host. */
const send = (
  url: string,
  { method, headers, body, agent }: Required<RawRequest> & { agent: Agent },
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent }, resolve)
    sent.on('error', reject)
    sent.end(body)
  })

/** Example metrics. */
const createMetrics = ({ from, to, step }: MetricsQuery): Metrics => {
  const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }[step]
  const steps = Math.round((to - from) / stepMs)
  return {
    total: 5,
    succeeded: 3,
    reverted: 1,
    stored: 0,
    charged: { units: 4, free: [{ outcome: 'nodeError', total: 1 }], weighted: 0, notifications: 0 },
    storedFrom: 0,
    successRate: 0.8,
    latencyMs: { p50: 1.5, p90: 2, p95: 2, p99: 2 },
    connections: 1,
    notifications: 5,
    series: Array.from({ length: steps }, (_, index) => ({
      at: from + index * stepMs,
      total: index === 0 ? 5 : 0,
      succeeded: index === 0 ? 3 : 0,
      reverted: index === 0 ? 1 : 0,
      p50: index === 0 ? 1.5 : null,
      p95: index === 0 ? 2 : null,
      connections: index === 0 ? 1 : 0,
      notifications: index === 0 ? 5 : 0,
    })),
    byMethod: [{ method: 'eth_blockNumber', total: 5, succeeded: 3, reverted: 1, p50: 1.5, p95: 2 }],
    byOutcome: [
      { outcome: 'succeeded', total: 3 },
      { outcome: 'reverted', total: 1 },
      { outcome: 'nodeError', total: 1 },
    ],
    byNetwork: [{ network: 'testnet', total: 5, succeeded: 3, reverted: 1 }],
  }
}

/** Starts a control API on an empty database. */
export const startControl = async (database: Pick<TestDatabase, 'create'>): Promise<StartedControl> => {
  const storage = await openStorage(await database.create())
  const clock = { now: Date.now() }
  const now = (): number => clock.now
  const noLimits = { perSecond: null, burst: 1_000, perDay: null, perMonth: null }
  const keys = createStoredKeys({ storage, getLimits: () => noLimits, now })
  const forgotten: Change[] = []
  const forget = (changes: readonly Change[]): void => {
    forgotten.push(...changes)
    keys.forget(changes)
  }
  const operatorToken = randomBytes(32).toString('hex')
  const config: StartedControl['config'] = {
    signUp: 'open' as SignUpMode,
    reveal: true,
    maxApps: 20,
    limits: {
      app: { perSecond: 100, burst: 1_000, perDay: 100_000, perMonth: 3_000_000 },
      apiKey: { perSecond: null, burst: 1_000, perDay: 25_000, perMonth: null },
    },
  }
  const inbox = createInbox({ siteUrl: () => url })
  inbox.isOn = false
  const oidc: StartedControl['oidc'] = { config: undefined }
  const secrets: [ServerSecret, ...ServerSecret[]] = [createServerSecret(randomBytes(32).toString('hex'))]
  let url = 'http://127.0.0.1:1'
  const accounts = createAccounts({
    storage,
    signUp: () => config.signUp,
    passwordLogin: () => config.passwordLogin ?? true,
    maxApps: () => config.maxApps,
    oidc: {
      client: createOidcClient({ config: () => oidc.config, timeoutMs: 30_000 }),
      siteUrl: () => url,
    },
    secrets,
    operatorToken,
    now,
    onChange: forget,
    mailer: inbox.mailer,
    passwords: createPasswordHasher({ cost: cheap, maxQueued: 1_000 }),
  })
  const usageLimits: Pick<UsageLimits, 'usage'> = {
    usage: async ({ perDay, perMonth }) => ({
      day: { used: 7, limit: perDay, resetAtMs: clock.now + 1_000 },
      month: { used: 70, limit: perMonth, resetAtMs: clock.now + 2_000 },
    }),
  }
  const logs: ControlLogEntry[] = []
  const seen: string[] = []
  const metricsQueries: MetricsQuery[] = []
  const held: { metrics?: Promise<void> } = {}
  const webhookResult: StartedControl['webhookResult'] = { next: { ok: true, result: 'HTTP 200' } }
  const control = createControl({
    storage,
    accounts,
    usageLimits,
    readMetrics: async (query) => {
      metricsQueries.push(query)
      await held.metrics
      return createMetrics(query)
    },
    readActivity: createReadActivity({ storage }),
    readTraffic: createReadTraffic({ storage }),
    keys: { forget },
    requestRecorder: { remove: (keyIds) => removeRequests(storage, keyIds) },
    secrets,
    config: () => ({ ...config, oidc: oidc.config }),
    deployment: () => ({
      publicUrl: url,
      chains: { ethereum: { title: 'Ethereum', aliases: ['ether'] } },
      networks: {
        testnet: {
          chain: 'ethereum',
          title: 'Ethereum Sepolia',
          chainId: 11_155_111,
          symbol: 'ETH',
          testnet: true,
          aliases: ['sepolia'],
          explorerUrl: 'https://sepolia.etherscan.io',
        },
        mainnet: {
          chain: 'ethereum',
          title: 'Ethereum Mainnet',
          chainId: 1,
          symbol: 'ETH',
          testnet: false,
          aliases: [],
        },
      },
    }),
    readInstance: createReadInstance({
      ...idleSources,
      version: '1.2.3',
      rates: createCallRates(now),
      events: createRecentEvents(now),
      droppedLogLines: () => 0,
      files: { database: undefined, chainStore: undefined },
      certificateEndsAt: () => null,
    }),
    webhooks: {
      options: () => ({ allowPrivate: false, now: clock.now }),
      send: async () => webhookResult.next,
    },
    log: (entry) => logs.push(entry),
    now,
  })
  // Each request gets its own client IP address. Otherwise requests would throttle each other.
  const listener = getRequestListener((asRequest) =>
    control.fetch(asRequest, { ip: asRequest.headers.get('x-test-ip') ?? newIp() }),
  )
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const agent = new Agent({ keepAlive: true })
  const raw = async (path: string, { method = 'GET', headers = {}, body }: RawRequest = {}): Promise<TestResponse> => {
    const response = await send(`${url}${path}`, { method, headers, body, agent })
    const text = await readText(response)
    const read = new Headers()
    for (let at = 0; at < response.rawHeaders.length; at += 2)
      read.append(response.rawHeaders[at] ?? '', response.rawHeaders[at + 1] ?? '')
    seen.push(`${method} ${path} ${JSON.stringify([...read])} ${text}`)
    const json = text !== '' && read.get('content-type')?.startsWith('application/json') === true
    return { status: response.statusCode ?? 0, headers: read, text, body: json ? JSON.parse(text) : undefined }
  }

  return {
    url,
    storage,
    accounts,
    keys,
    operatorToken,
    clock,
    config,
    inbox,
    oidc,
    secrets,
    logs,
    seen,
    metricsQueries,
    webhookResult,
    held,
    forgotten,
    raw,
    call: (name, sent = {}) => {
      const {
        params,
        query,
        body,
        as,
        headers = {},
      } = sent as {
        params?: Record<string, string>
        query?: Record<string, string | number>
        body?: unknown
        as?: Login
        headers?: Record<string, string | undefined>
      }
      const [method = '', template = ''] = name.split(' ')
      const path = template.replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(params?.[part] ?? ''))
      const search = new URLSearchParams(
        Object.entries(query ?? {}).map(([key, value]): [string, string] => [key, String(value)]),
      )
      const all: Record<string, string | undefined> = {
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
        ...(as !== undefined && 'cookie' in as
          ? { cookie: as.cookie, origin: url, 'sec-fetch-site': 'same-origin' }
          : {}),
        ...(as !== undefined && 'bearer' in as ? { authorization: `Bearer ${as.bearer}` } : {}),
        ...(as?.account === undefined ? {} : { 'x-keyrail-account': as.account }),
        ...headers,
      }
      return raw(search.size === 0 ? path : `${path}?${search.toString()}`, {
        method,
        headers: Object.fromEntries(
          Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
        ),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    },
    close: async () => {
      agent.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      })
      await keys.close()
      await storage.close()
    },
  }
}
