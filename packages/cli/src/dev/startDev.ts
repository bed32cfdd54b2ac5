import { createService, getApiKeyUrl, getAppUrl, parseServiceConfig, readServerSecrets } from '@keyrail/gateway'
import type { RunningConfig, Service } from '@keyrail/gateway'
import { CliError } from '../cliError.ts'
import { blockSeconds, seedChain, countSeededBlocks } from '../node/seedChain.ts'
import { startNode } from '../node/startNode.ts'
import type { RunningNode } from '../node/startNode.ts'
import { devChainIds, seedRounds } from './devChains.ts'
import type { ByNetwork, Network } from './devChains.ts'
import { openDevFolder } from './devFolder.ts'
import type { DevFolder } from './devFolder.ts'
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
  /** The folder for keys and chains. @default a temporary one */
  readonly data?: string | undefined
  /** Allows the nodes' own methods: `anvil_*`, `evm_*`, `hardhat_*`. */
  readonly unsafeNodeMethods?: boolean | undefined
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

async function startChain(folder: DevFolder, network: Network): Promise<RunningNode> {
  const loadFrom = folder.savedChain(network)
  const rounds = seedRounds[network]
  const node = await startNode({
    name: network,
    chainId: devChainIds[network],
    folder: folder.path,
    loadFrom,
    saveTo: folder.nextChain(network),
    genesisAt: loadFrom ? undefined : Math.floor(Date.now() / 1_000) - blockSeconds * countSeededBlocks(rounds),
  })
  try {
    if (loadFrom === undefined) await seedChain(node.url, rounds)
    return node
  } catch (error) {
    await node.stop()
    throw error
  }
}

async function startChains(folder: DevFolder): Promise<ByNetwork<RunningNode>> {
  const [testnet, mainnet] = await Promise.allSettled([startChain(folder, 'testnet'), startChain(folder, 'mainnet')])
  if (testnet.status === 'fulfilled' && mainnet.status === 'fulfilled') {
    return { testnet: testnet.value, mainnet: mainnet.value }
  }
  for (const one of [testnet, mainnet]) if (one.status === 'fulfilled') await one.value.stop()
  const reason: unknown = testnet.status === 'rejected' ? testnet.reason : (mainnet as PromiseRejectedResult).reason
  throw reason instanceof Error ? reason : new Error(String(reason))
}

/** Creates the service's config: the same limits as in production, except for the rate limit, which would slow down tests. */
function devConfig(nodes: ByNetwork<string>): RunningConfig {
  const { publicUrl: _none, ...config } = parseServiceConfig({
    // Replaced once the service listens.
    publicUrl: 'http://127.0.0.1',
    signUp: 'open',
    chain: { name: 'Development chain', symbol: 'DEV' },
    networks: {
      testnet: { chainId: devChainIds.testnet, upstreams: [{ url: nodes.testnet }] },
      mainnet: { chainId: devChainIds.mainnet, upstreams: [{ url: nodes.mainnet }] },
    },
    services: { debug: true, trace: true, txpool: true },
    limits: { apps: { perSecond: null } },
  })
  const folder = findDashboardFolder()
  return folder === undefined ? config : { ...config, dashboard: { folder } }
}

/** Creates the folder's account, app and keys in the database if needed, and saves those that were rotated since. */
async function provideState(service: Service, folder: DevFolder): Promise<DevState> {
  const { account, app, keys, version } = folder.state
  const provided = await service.provideAccount({
    account: { email: account.email, password: account.password },
    app,
    keys,
  })
  const state: DevState = { version, account, app: provided.app, keys: provided.keys }
  folder.saveState(state)
  return state
}

/**
 * Starts two embedded nodes and the service, with one app and two API keys. Everything listens on loopback addresses only.
 *
 * @returns The running service. Its nodes stop when this process exits or is killed.
 * @throws {CliError} if a port, a folder or a node is not available. Everything already started is stopped.
 * @example
 * const service = await startDev({ data: './chains' })
 * console.log(service.description.url)
 * await service.stop()
 */
export async function startDev(options: DevOptions = {}): Promise<DevService> {
  const folder = openDevFolder(options.data)
  // Also if the process exits without a stop: a second Ctrl-C, an uncaught error. The next start loads the saved chains.
  process.once('exit', folder.release)
  const release = (): void => {
    process.off('exit', folder.release)
    folder.release()
  }
  let nodes: ByNetwork<RunningNode> | undefined
  let service: Service | undefined
  try {
    nodes = await startChains(folder)
    const { testnet, mainnet } = nodes
    const opened = await createService({
      config: devConfig({ testnet: testnet.directUrl, mainnet: mainnet.directUrl }),
      secrets: readServerSecrets({ KEYRAIL_SECRET: folder.secret }),
      storage: { file: folder.database },
      unsafeNodeMethods: options.unsafeNodeMethods ?? false,
      testKeys: true,
    })
    service = opened
    const state = await provideState(opened, folder)
    const { url, port } = await listen(opened, options.port)

    const stopAll = async (): Promise<void> => {
      await opened.close({ graceMs: 2_000 })
      await Promise.all([testnet.stop(), mainnet.stop()])
      release()
    }
    let stopping: Promise<void> | undefined
    const watch = async ({ exited }: RunningNode, network: Network): Promise<string> => {
      const how = await exited
      // A stopped node is not broken.
      if (stopping) return new Promise<never>(() => undefined)
      return `the ${network} node exited unexpectedly (${how})`
    }
    const describeKey = (network: Network): { apiKey: string; url: string } => {
      const { apiKey } = state.keys[network]
      return { apiKey, url: getApiKeyUrl(url, network, apiKey) }
    }
    return {
      description: {
        url,
        dashboard: url,
        account: state.account,
        app: {
          ...state.app,
          urls: {
            testnet: getAppUrl(url, 'testnet', state.app.apiKey),
            mainnet: getAppUrl(url, 'mainnet', state.app.apiKey),
          },
        },
        keys: { testnet: describeKey('testnet'), mainnet: describeKey('mainnet') },
        nodes: { testnet: testnet.url, mainnet: mainnet.url },
      },
      port,
      folder,
      broken: Promise.race([watch(testnet, 'testnet'), watch(mainnet, 'mainnet')]),
      stop: () => (stopping ??= stopAll()),
    }
  } catch (error) {
    await service?.close({ graceMs: 0 })
    await Promise.all([nodes?.testnet.stop(), nodes?.mainnet.stop()])
    release()
    throw error
  }
}
