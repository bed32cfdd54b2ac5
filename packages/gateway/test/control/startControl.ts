import { Agent, createServer, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { randomBytes } from 'node:crypto'
import { createAccounts } from '../../src/control/account/createAccounts.ts'
import { createPasswords } from '../../src/control/account/createPasswords.ts'
import type { Accounts, SignUpMode } from '../../src/control/account/accounts.ts'
import type { ControlApi } from '../../src/control/contract/controlApi.ts'
import type { RouteName } from '../../src/control/contract/route.ts'
import { createControl } from '../../src/control/createControl.ts'
import type { ControlConfig, ControlLogEntry } from '../../src/control/controlOptions.ts'
import { createStoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import type { StoredKeys } from '../../src/auth/key/createStoredKeys.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import type { ServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import type { Metrics, MetricsQuery } from '../../src/usage/metering/metrics.ts'
import type { Quota } from '../../src/usage/quota/quota.ts'
import type { Change } from '../../src/storage/changes.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { cheap, newIp } from '../account/accountFixture.ts'
import type { TestDatabase } from '../storage/databases.ts'

/** An answer of the control API. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Read as JSON, where it is. */
  readonly body: unknown
}

/** What a call sends; what a route does not take is left out. */
export type Sent<Name extends RouteName> = {
  readonly [
    Part in 'params' | 'query' | 'body' as ControlApi[Name][Part] extends undefined ? never : Part
  ]?: ControlApi[Name][Part]
} & { readonly as?: Login | undefined; readonly headers?: Readonly<Record<string, string | undefined>> }

/** A request, sent as it stands. */
export interface RawRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

/** By what a call is made: a cookie, or a token. */
export type Login = { readonly cookie: string } | { readonly bearer: string }

/** A control API behind a real socket, with a clock and a configuration that tests change. */
export interface StartedControl {
  readonly url: string
  readonly storage: Storage
  readonly accounts: Accounts
  readonly keys: StoredKeys
  readonly operatorToken: string
  readonly clock: { now: number }
  readonly config: { -readonly [Name in keyof ControlConfig]: ControlConfig[Name] }
  readonly secrets: [ServerSecret, ...ServerSecret[]]
  readonly logs: ControlLogEntry[]
  /** All that was succeeded: the text, with the headers. */
  readonly seen: string[]
  readonly asked: MetricsQuery[]
  /** While it is set, metrics are read only once it is settled. */
  readonly held: { metrics?: Promise<void> }
  /** What the data plane's keys were told to forget. */
  readonly told: Change[]
  call<Name extends RouteName>(name: Name, sent?: Sent<Name>): Promise<Answered>
  /** Sends what no typed client would. */
  raw(path: string, request?: RawRequest): Promise<Answered>
  close(): Promise<void>
}

/** By node:http, as fetch lets nobody choose a Host. */
const send = (
  url: string,
  { method, headers, body, agent }: Required<RawRequest> & { agent: Agent },
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent }, resolve)
    sent.on('error', reject)
    sent.end(body)
  })

/** A meter that has seen a little. */
export const someMetrics = ({ from, to, step }: MetricsQuery): Metrics => {
  const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }[step]
  const steps = Math.round((to - from) / stepMs)
  return {
    total: 4,
    succeeded: 3,
    successRate: 0.75,
    latencyMs: { p50: 1.5, p90: 2, p95: 2, p99: 2 },
    series: Array.from({ length: steps }, (_, index) => ({
      at: from + index * stepMs,
      total: index === 0 ? 4 : 0,
      succeeded: index === 0 ? 3 : 0,
      p50: index === 0 ? 1.5 : null,
      p95: index === 0 ? 2 : null,
    })),
    byMethod: [{ method: 'eth_blockNumber', total: 4, succeeded: 3, p50: 1.5, p95: 2 }],
    byOutcome: [
      { outcome: 'succeeded', total: 3 },
      { outcome: 'nodeError', total: 1 },
    ],
    byNetwork: [{ network: 'testnet', total: 4, succeeded: 3 }],
  }
}

/** Starts a control API on an empty database. */
export const startControl = async (database: Pick<TestDatabase, 'create'>): Promise<StartedControl> => {
  const storage = await openStorage(await database.create())
  const clock = { now: Date.now() }
  const now = (): number => clock.now
  const noLimits = { perSecond: null, burst: 1_000, perDay: null, perMonth: null }
  const keys = createStoredKeys({ storage, getLimits: () => noLimits, pollMs: 60_000, now })
  const told: Change[] = []
  const forget = (changes: readonly Change[]): void => {
    told.push(...changes)
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
  const accounts = createAccounts({
    storage,
    signUp: () => config.signUp,
    operatorToken,
    now,
    onChange: forget,
    passwords: createPasswords({ cost: cheap, maxWaiting: 1_000 }),
  })
  const quota: Pick<Quota, 'usage'> = {
    usage: async ({ perDay, perMonth }) => ({
      day: { used: 7, limit: perDay, resetAtMs: clock.now + 1_000 },
      month: { used: 70, limit: perMonth, resetAtMs: clock.now + 2_000 },
    }),
  }
  const secrets: [ServerSecret, ...ServerSecret[]] = [createServerSecret(randomBytes(32).toString('hex'))]
  const logs: ControlLogEntry[] = []
  const seen: string[] = []
  const asked: MetricsQuery[] = []
  const held: { metrics?: Promise<void> } = {}
  let url = 'http://127.0.0.1:1'
  const control = createControl({
    storage,
    accounts,
    quota,
    readMetrics: async (query) => {
      asked.push(query)
      await held.metrics
      return someMetrics(query)
    },
    keys: { forget },
    secrets,
    config: () => config,
    deployment: () => ({
      publicUrl: url,
      chain: { name: 'Ethereum', symbol: 'ETH', aliases: ['ether'], chainIds: { testnet: 11_155_111, mainnet: 1 } },
    }),
    log: (entry) => logs.push(entry),
    now,
  })
  // What stands for the caller's address here: callers that share one would be slowed for each other.
  const listener = getRequestListener((asRequest) =>
    control.fetch(asRequest, { ip: asRequest.headers.get('x-test-ip') ?? newIp() }),
  )
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const agent = new Agent({ keepAlive: true })
  const raw = async (path: string, { method = 'GET', headers = {}, body }: RawRequest = {}): Promise<Answered> => {
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
    secrets,
    logs,
    seen,
    asked,
    held,
    told,
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
