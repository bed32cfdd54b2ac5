import { createUpstream } from '../proxy/upstream/createUpstream.ts'
import { checkChainId } from '../proxy/upstream/health/watchHealth.ts'
import { openSession } from '../proxy/subscription/node/openSession.ts'
import type { UpstreamOptions } from '../proxy/options/upstreamOptions.ts'
import { readServiceConfig } from './readServiceConfig.ts'
import type { Environment } from './serviceEnvironment.ts'
import { toUpstreams } from './toGatewayConfig.ts'

/** The result of requesting the chain id at one URL of a node. */
export interface NodeCheck {
  readonly network: string
  /** The node's name, as in logs. */
  readonly upstream: string
  /** The member of the config with the URL. */
  readonly member: 'url' | 'wsUrl'
  /** Scheme, host and port. The rest of a URL may be a secret. */
  readonly redactedUrl: string
  /** Why the node cannot be used, such as `its chain id is 31337, not 1`; `undefined` if it is on the right chain. */
  readonly problem: string | undefined
}

const timeoutMs = 5_000

const toRedactedUrl = ({ protocol, host, pathname, search }: URL): string =>
  `${protocol}//${host}${pathname === '/' && search === '' ? '' : '/…'}`

const checkUrl = async ({ url, headers }: UpstreamOptions, chainId: number): Promise<string | undefined> => {
  const upstream = createUpstream(url, { headers })
  let problem: string | undefined
  try {
    const result = await checkChainId(upstream, {
      chainId,
      hasChainId: true,
      timeoutMs,
      evenIfPaused: true,
      onFailure: (reason) => (problem = reason),
    })
    return result === 'healthy'
      ? undefined
      : (problem ?? 'it rejects the request for its rate: its chain id is unknown')
  } finally {
    await upstream.close()
  }
}

const checkWsUrl = (url: URL, { headers }: UpstreamOptions, chainId: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const session = openSession(
      { url, headers, chainId, silenceMs: timeoutMs, timeoutMs, onNotification: () => {} },
      {
        getTopics: () => new Set(),
        onReady: () => {
          // After this turn: the session is not assigned yet if the connection is ready at once.
          setImmediate(() => session.close())
          resolve(undefined)
        },
        onEnd: (reason) =>
          resolve(reason === 'wrongChain' ? `its chain id is not ${chainId}` : 'it cannot be reached by WebSocket'),
      },
    )
  })

/** Requests the chain id of the nodes of a config that are wanted. */
const checkWanted = (
  file: string,
  { environment = process.env }: { environment?: Environment },
  isWanted: (vendor: string | undefined) => boolean,
): Promise<readonly NodeCheck[]> => {
  const { networks } = readServiceConfig(file, { environment })
  const checks = Object.entries(networks).flatMap(([network, { chainId, upstreams }]) =>
    toUpstreams(network, upstreams).flatMap((upstream, index) => {
      if (!isWanted(upstreams[index]?.vendor)) return []
      const { name, url, wsUrl } = upstream
      const check = async (member: NodeCheck['member'], at: URL, asked: Promise<string | undefined>) => ({
        network,
        upstream: name,
        member,
        redactedUrl: toRedactedUrl(at),
        problem: await asked,
      })
      return [
        check('url', url, checkUrl(upstream, chainId)),
        ...(wsUrl === undefined ? [] : [check('wsUrl', wsUrl, checkWsUrl(wsUrl, upstream, chainId))]),
      ]
    }),
  )
  return Promise.all(checks)
}

/**
 * Requests the chain id of each node of a config, over HTTP and, if it has a `wsUrl`, over a WebSocket. Each gets 5 s to respond.
 * @param file - The path of the config file.
 * @param options.environment - @default process.env
 * @returns One result for each URL, in the order of the config.
 * @throws {ConfigError} if the file cannot be used.
 * @example
 * for (const { upstream, problem } of await checkNodes('keyrail.config.json')) console.log(upstream, problem ?? 'ok')
 */
export const checkNodes = async (
  file: string,
  options: { environment?: Environment } = {},
): Promise<readonly NodeCheck[]> => checkWanted(file, options, () => true)

/**
 * Requests the chain id of each node that a config has by the name of its vendor, as `checkNodes` does: the table of vendors can be out of date, and a
 * key can be for other networks only.
 * @param file - The path of the config file.
 * @param options.environment - @default process.env
 * @returns One result for each URL, in the order of the config.
 * @throws {ConfigError} if the file cannot be used.
 * @example
 * for (const { upstream, problem } of await checkVendors('keyrail.config.json')) console.log(upstream, problem ?? 'ok')
 */
export const checkVendors = async (
  file: string,
  options: { environment?: Environment } = {},
): Promise<readonly NodeCheck[]> => checkWanted(file, options, (vendor) => vendor !== undefined)
