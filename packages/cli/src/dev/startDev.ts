import { createService, getApiKeyUrl, getAppUrl, parseServiceConfig, readServerSecrets } from '@keyrail/gateway'
import type { RunningConfig, Service } from '@keyrail/gateway'
import { CliError } from '../cliError.ts'
import { callNode, getBlockHead } from '../node/callNode.ts'
import { exampleToken } from '../node/exampleToken.ts'
import type { ExampleToken } from '../node/exampleToken.ts'
import { fundedAccounts } from '../node/fundedAccounts.ts'
import { blockSeconds, seedChain, countSeededBlocks } from '../node/seedChain.ts'
import { startNode } from '../node/startNode.ts'
import type { RunningNode } from '../node/startNode.ts'
import { createUse, startBlocks } from './startBlocks.ts'
import { defaultNetworks } from './devNetworks.ts'
import type { DevNetwork } from './devNetworks.ts'
import { openDevFolder } from './devFolder.ts'
import type { DevFolder } from './devFolder.ts'
import type { DevDescription } from './devDescription.ts'
import type { DevService } from './devService.ts'
import type { DevState } from './devState.ts'
import { findDashboardFolder } from '../output/findDashboardFolder.ts'

/**
 * The default port: RAIL on a phone keypad. It is below the ephemeral ports of every system, not blocked by browsers, and away from 8545 and its
 * neighbors, which other nodes use.
 */
export const defaultPort = 7245

/** The options of `keyrail dev`. */
export interface DevOptions {
  /** The port. @default 7245, or a free one if that is in use */
  readonly port?: number | undefined
  /** The folder for the database, keys and chains. @default a temporary one */
  readonly data?: string | undefined
  /** Allows the nodes' own methods: `anvil_*`, `evm_*`, `hardhat_*`. */
  readonly unsafeNodeMethods?: boolean | undefined
  /** How often each node mines a block, in seconds, in addition to one for each transaction. @default only for transactions */
  readonly blockTime?: number | undefined
  /** The networks, each with its own node. @default a test network and a main network */
  readonly networks?: readonly DevNetwork[] | undefined
}

const isInUse = (error: unknown): boolean => (error as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'

async function listen(service: Service, port: number | undefined): Promise<{ url: string; port: number }> {
  const host = '127.0.0.1'
  try {
    return await service.listen({ host, port: port ?? defaultPort })
  } catch (error) {
    if (port === undefined && isInUse(error)) return service.listen({ host, port: 0 })
    const reason = isInUse(error) ? 'it is in use' : error instanceof Error ? error.message : String(error)
    throw new CliError(`cannot listen on port ${port ?? defaultPort} of ${host}: ${reason}`, {
      hint: 'use another --port, or omit it to use a free one',
    })
  }
}

/** A network with its node. */
export interface DevChain extends DevNetwork {
  readonly node: RunningNode
  readonly token: ExampleToken
  /** The last block of the forked chain, if it is a fork. */
  readonly forkedAt: number | undefined
}

/** The state of how many blocks a node keeps with `blockTime`. */
const keptStates = 64

async function startChain(
  folder: DevFolder,
  network: DevNetwork,
  { blockTime }: Pick<DevOptions, 'blockTime'>,
): Promise<DevChain> {
  const { name, chainId, seedRounds, fork } = network
  // A saved fork would have the state of an old block. A new one is as quick to start.
  const loadFrom = fork ? undefined : folder.savedChain(name)
  const node = await startNode({
    name,
    chainId,
    folder: folder.path,
    loadFrom,
    saveTo: fork ? undefined : folder.nextChain(name),
    fork,
    keptStates: blockTime === undefined ? undefined : keptStates,
    genesisAt:
      loadFrom || fork ? undefined : Math.floor(Date.now() / 1_000) - blockSeconds * countSeededBlocks(seedRounds),
  })
  try {
    const forkedAt = fork && Number((await getBlockHead(node.url, 'latest')).number)
    const address =
      loadFrom === undefined
        ? await seedChain(node.url, seedRounds, { isFork: fork !== undefined })
        : exampleToken.address
    return { ...network, node, token: { ...exampleToken, address }, forkedAt }
  } catch (error) {
    await node.stop()
    throw error
  }
}

const stopChains = async (chains: readonly DevChain[]): Promise<void> => {
  await Promise.all(chains.map(({ node }) => node.stop()))
}

async function startChains(
  folder: DevFolder,
  networks: readonly DevNetwork[],
  options: Pick<DevOptions, 'blockTime'>,
): Promise<readonly DevChain[]> {
  const started = await Promise.allSettled(networks.map((network) => startChain(folder, network, options)))
  const chains = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = started.find((one) => one.status === 'rejected')
  if (failed === undefined) return chains
  await stopChains(chains)
  const reason: unknown = failed.reason
  throw reason instanceof Error ? reason : new Error(String(reason))
}

/** Describes the fork, if the only network is one. */
function describeFork([chain]: readonly DevChain[]): Pick<DevDescription<string>, 'fork'> {
  if (chain?.fork === undefined || chain.forkedAt === undefined) return {}
  return { fork: { redactedUrl: chain.fork.redactedUrl, blockNumber: chain.forkedAt } }
}

/** Builds an object with a value for each network. */
const toRecord = <T>(
  chains: readonly DevChain[],
  getValue: (chain: DevChain) => T | undefined,
): Readonly<Record<string, T>> =>
  Object.fromEntries(
    chains.flatMap((chain) => {
      const value = getValue(chain)
      return value === undefined ? [] : [[chain.name, value]]
    }),
  )

/** Creates the service's config: the same limits as in production, except for the rate limit, which would slow down tests. */
export function createDevConfig(chains: readonly DevChain[]): RunningConfig {
  const { publicUrl: _none, ...config } = parseServiceConfig({
    // Replaced once the service listens.
    publicUrl: 'http://127.0.0.1',
    signUp: 'open',
    networks: toRecord(chains, ({ chainId, testnet, details, node }) => ({
      ...details,
      chainId,
      testnet,
      // Polling alone finds a block of a quiet chain seconds late.
      upstreams: [{ url: node.directUrl, wsUrl: node.directUrl.replace('http', 'ws') }],
    })),
    chains: { development: { title: 'Development' } },
    services: { debug: true, trace: true, txpool: true },
    limits: { apps: { perSecond: null } },
  })
  const folder = findDashboardFolder()
  return folder === undefined ? config : { ...config, dashboard: { folder } }
}

/** Creates the folder's account, app and keys in the database if needed, and saves those that were rotated since. */
async function provideState(service: Service, folder: DevFolder, networks: readonly DevNetwork[]): Promise<DevState> {
  const { account, app, keys, version } = folder.state
  // The folder may also have keys of networks that this service does not have.
  const isServed = (network: string): boolean => networks.some(({ name }) => name === network)
  const provided = await service.provideAccount({
    account: { email: account.email, password: account.password },
    app,
    keys: Object.fromEntries(Object.entries(keys).filter(([name]) => isServed(name))),
  })
  const others = Object.fromEntries(Object.entries(keys).filter(([name]) => !isServed(name)))
  const state: DevState = { version, account, app: provided.app, keys: { ...others, ...provided.keys } }
  folder.saveState(state)
  return state
}

/**
 * Starts an embedded node for each network and the service, with one app and API keys. Everything listens on loopback addresses only.
 *
 * @returns The running service. Its nodes stop when this process exits or is killed.
 * @throws {CliError} if a port, a folder or a node is not available. Everything already started is stopped.
 * @example
 * const service = await startDev({ data: './chains' })
 * console.log(service.description.url)
 * await service.stop()
 */
export async function startDev(options: DevOptions = {}): Promise<DevService> {
  const networks = options.networks ?? defaultNetworks
  const folder = openDevFolder(options.data, networks)
  // Also if the process exits without a stop: a second Ctrl-C, an uncaught error. The next start loads the saved chains.
  process.once('exit', folder.release)
  const release = (): void => {
    process.off('exit', folder.release)
    folder.release()
  }
  let chains: readonly DevChain[] = []
  let service: Service | undefined
  const use = createUse()
  try {
    const started = await startChains(folder, networks, options)
    chains = started
    const opened = await createService({
      config: { ...createDevConfig(started), logRequests: true },
      log: use.observe,
      secrets: readServerSecrets({ KEYRAIL_SECRET: folder.secret }),
      storage: { file: folder.database },
      developmentMethods: options.unsafeNodeMethods === true ? 'all' : 'reads',
      testKeys: true,
    })
    service = opened
    const state = await provideState(opened, folder, networks)
    const { url, port } = await listen(opened, options.port)

    const { blockTime } = options
    const stopBlocks =
      blockTime === undefined
        ? () => undefined
        : startBlocks({
            seconds: blockTime,
            isIdle: use.isIdle,
            mine: async () => {
              await Promise.all(started.map(({ node }) => callNode(node.url, 'evm_mine')))
            },
          })
    const stopAll = async (): Promise<void> => {
      stopBlocks()
      await opened.close({ graceMs: 2_000 })
      await stopChains(started)
      release()
    }
    let stopping: Promise<void> | undefined
    const watch = async ({ name, node }: DevChain): Promise<string> => {
      const how = await node.exited
      // A stopped node is not broken.
      if (stopping) return new Promise<never>(() => undefined)
      return `the ${name} node exited unexpectedly (${how})`
    }
    const wsUrl = url.replace('http', 'ws')
    const describeKey = ({ name }: DevChain): DevDescription<string>['keys'][string] | undefined => {
      const key = state.keys[name]
      return (
        key && {
          apiKey: key.apiKey,
          url: getApiKeyUrl(url, name, key.apiKey),
          wsUrl: getApiKeyUrl(wsUrl, name, key.apiKey),
        }
      )
    }
    const user = await opened.accounts.operator.findUser({ email: state.account.email })
    const running: DevService = {
      description: {
        url,
        dashboard: url,
        account: state.account,
        app: {
          ...state.app,
          urls: toRecord(started, ({ name }) => getAppUrl(url, name, state.app.apiKey)),
          wsUrls: toRecord(started, ({ name }) => getAppUrl(wsUrl, name, state.app.apiKey)),
        },
        keys: toRecord(started, describeKey),
        nodes: toRecord(started, ({ node }) => node.url),
        chainIds: toRecord(started, ({ chainId }) => chainId),
        fundedAccounts,
        tokens: toRecord(started, ({ token }) => token),
        ...describeFork(started),
      },
      port,
      folder,
      createLogInLink: () => `${url}/log-in/link#${opened.accounts.createLogInLink(user?.id ?? '')}`,
      broken: Promise.race(started.map(watch)),
      stop: () => (stopping ??= stopAll()),
    }
    folder.saveDescription(running.description)
    return running
  } catch (error) {
    await service?.close({ graceMs: 0 })
    await stopChains(chains)
    release()
    throw error
  }
}
