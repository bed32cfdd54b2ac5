import { onTestFinished } from 'vitest'
import type { AllowList } from '../src/auth/allowList/compileAllowList.ts'
import type { KeyLimits } from '../src/auth/key/keyStore.ts'
import { createApiKey } from '../src/lib/secrets/apiKey.ts'
import { createLocalLimits } from '../src/usage/limits/createLocalLimits.ts'
import type { UsageLimits } from '../src/usage/limits/usageLimits.ts'
import { createRateLimiter } from '../src/usage/rateLimit/createRateLimiter.ts'
import { until } from './controlTime.ts'
import type { TestGateway, TestOptions } from './createTestGateway.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import { createCall } from './nodeFailures.ts'
import { chainIds, post, startGateway, unreachableUrl } from './startGateway.ts'
import { noLimits, noon } from './tenants/startTenants.ts'

/** What a call looks like to its caller, to the nodes and in the metrics. */
export interface Seen {
  readonly responses: readonly unknown[]
  /** The newest block that each response names. */
  readonly blocks: readonly (string | null)[]
  /** By node. */
  readonly bodies: readonly (readonly string[])[]
  readonly outcomes: readonly unknown[]
  readonly counted: readonly unknown[]
  /** How many units of its quota are used. */
  readonly used: number
}

/** Calls, and the gateway that they are sent through. */
export interface Scenario {
  /** Without any, nothing listens. */
  readonly nodes: readonly Behaviour[]
  /** The heads of the nodes. @default 100 */
  readonly heads?: readonly number[] | undefined
  /** The chain id of the first node. @default that of the others */
  readonly firstChainId?: number | undefined
  /** Sent one after the other. */
  readonly calls: readonly string[]
  /** Called before each call. */
  readonly before?: (nodes: readonly FakeUpstream[], call: number) => void
  /** The block that the caller says it has seen. */
  readonly seenBlock?: number
  readonly hedgeMs?: number
  readonly bounds?: NonNullable<TestOptions['bounds']>
  readonly weights?: Readonly<Record<string, number>>
  readonly limits?: Partial<KeyLimits>
  readonly allow?: AllowList
  /** Replaces parts of the limits. */
  readonly broken?: Partial<UsageLimits>
  /** Lets time pass while a call is in flight. */
  readonly during?: (nodes: readonly FakeUpstream[], getUpstreams: TestGateway['upstreams']) => Promise<void>
}

const toOptions = (urls: readonly string[], { hedgeMs, bounds, weights }: Scenario) =>
  ({
    networks: {
      testnet: {
        chainId: chainIds.testnet,
        upstreams: urls.map((url) => ({ url })),
        ...(hedgeMs === undefined ? {} : { hedgeMs }),
      },
    },
    services: { debug: true },
    ...(bounds === undefined ? {} : { bounds }),
    ...(weights === undefined ? {} : { limits: { weights } }),
  }) satisfies Partial<TestOptions>

/** Sends calls, each alone or as a list of one, through a new gateway in front of new nodes. */
export const send = async (scenario: Scenario, isList: boolean): Promise<Seen> => {
  const { calls, limits = {}, allow, broken, before, during, seenBlock, firstChainId = chainIds.testnet } = scenario
  const nodes = await Promise.all(
    scenario.nodes.map(async (_, index) => startFakeUpstream(index === 0 ? firstChainId : chainIds.testnet)),
  )
  for (const [index, node] of nodes.entries()) {
    node.behave = scenario.nodes[index] ?? node.behave
    node.head = scenario.heads?.[index] ?? node.head
    onTestFinished(node.stop)
  }
  const counted: unknown[] = []
  const meter = {
    count: (...[, network, method, outcome, , count]: unknown[]) =>
      void counted.push({ network, method, outcome, calls: count }),
    flush: async () => {},
    close: async () => {},
  }
  const now = (): number => noon
  const usageLimits = createLocalLimits({ now, rates: createRateLimiter({ now }) })
  onTestFinished(() => usageLimits.close())
  const urls = nodes.length === 0 ? [unreachableUrl] : nodes.map(({ url }) => url)
  const started = await startGateway(
    { testnet: [] },
    { ...toOptions(urls, scenario), meter, now, usageLimits: { ...usageLimits, ...broken } },
  )
  onTestFinished(() => started.gateway.close({ graceMs: 0 }))
  const key = createApiKey('app')
  started.keys.add(key, {
    id: 'key_1',
    kind: 'app',
    networks: ['testnet'],
    status: 'active',
    appId: 'app_1',
    services: ['Node API'],
    limits: { ...noLimits, ...limits },
    ...(allow === undefined ? {} : { allow }),
  })
  const responses: unknown[] = []
  const blocks: (string | null)[] = []
  const init =
    seenBlock === undefined
      ? {}
      : { headers: { 'content-type': 'application/json', 'x-block-number': String(seenBlock) } }
  for (const [index, call] of calls.entries()) {
    before?.(nodes, index)
    const pending = post(`${started.url}/testnet/v2/${key}`, isList ? `[${call}]` : call, init)
    await during?.(nodes, started.gateway.upstreams)
    const { text, headers } = await pending
    blocks.push(headers.get('x-block-number'))
    const response: unknown = JSON.parse(text.replace(/"requestId":"[^"]+"/, '"requestId":"-"'))
    responses.push(isList && Array.isArray(response) ? response[0] : response)
  }
  // A streamed result is counted when it has ended.
  await until(() => counted.length >= calls.length)
  return {
    responses,
    blocks,
    bodies: nodes.map(({ bodies }) => bodies.map((body) => body.replace(/"id":\d+/, '"id":0'))),
    outcomes: started.gateway.upstreams().map(({ outcomes }) => [...outcomes]),
    counted,
    used: (await usageLimits.usage({ id: 'app:app_1', perDay: null, perMonth: null })).day.used,
  }
}

/** The response of the second node. */
export const fromSecond: Behaviour = (call) => result(call, '"second"')

/** Creates the text of a call. */
export const read = (method: string, ...params: unknown[]): string => createCall({ method, params: () => params }, 1)
