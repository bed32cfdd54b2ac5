import { apiKeyAddress, appAddress, createService, parseServiceConfig, readServerSecrets } from '@keyrail/gateway'
import type { RunningConfig, Service } from '@keyrail/gateway'
import { CliError } from '../cliError.ts'
import { blockEverySeconds, seedChain, countSeededBlocks } from '../node/seedChain.ts'
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
 * Where the service listens if nothing else is said: R, A, I, L on a telephone's keys. Below every system's range of passing ports, barred by no
 * browser, and apart from 8545 and its neighbours, where people's own nodes are.
 */
export const defaultPort = 7245

/** How `keyrail dev` is started. */
export interface DevOptions {
  /** The port that must be had. @default 7245, or a free one where that is taken */
  readonly port?: number | undefined
  /** The folder to keep keys and chains in. @default a temporary one */
  readonly data?: string | undefined
  /** Lets the nodes' own methods through: `anvil_*`, `evm_*`, `hardhat_*`. */
  readonly unsafeNodeMethods?: boolean | undefined
}

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'

async function listen(service: Service, port: number | undefined): Promise<{ url: string; port: number }> {
  const host = '127.0.0.1'
  try {
    return await service.listen({ host, port: port ?? defaultPort })
  } catch (error) {
    if (port === undefined && isTaken(error)) return service.listen({ host, port: 0 })
    const reason = isTaken(error)
      ? 'something else listens there'
      : error instanceof Error
        ? error.message
        : String(error)
    throw new CliError(`port ${port ?? defaultPort} of ${host} cannot be had: ${reason}`, {
      hint: 'give another with --port, or leave --port away to get a free one',
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
    genesisAt: loadFrom ? undefined : Math.floor(Date.now() / 1_000) - blockEverySeconds * countSeededBlocks(rounds),
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

/** What the service is told: all that callers of a real one meet, but for the rate a second, which would only slow tests down. */
function devConfig(nodes: ByNetwork<string>): RunningConfig {
  const { publicUrl: _none, ...config } = parseServiceConfig({
    // Known once it listens.
    publicUrl: 'http://127.0.0.1',
    signUp: 'open',
    chain: { name: 'Development chain', symbol: 'DEV' },
    networks: {
      testnet: { chainId: devChainIds.testnet, upstreams: [{ url: nodes.testnet }] },
      mainnet: { chainId: devChainIds.mainnet, upstreams: [{ url: nodes.mainnet }] },
    },
    services: { debug: true, trace: true },
    limits: { apps: { perSecond: null } },
  })
  const folder = findDashboardFolder()
  return folder === undefined ? config : { ...config, dashboard: { folder } }
}

/** Puts the folder's account and keys into the database where they are not there yet, and takes over what has become of them since. */
async function provideState(service: Service, folder: DevFolder): Promise<DevState> {
  const { account, app, keys, version } = folder.state
  const there = await service.provideAccount({
    account: { email: account.email, password: account.password },
    app,
    keys,
  })
  const state: DevState = { version, account, app: there.app, keys: there.keys }
  folder.saveState(state)
  return state
}

/**
 * Starts two embedded nodes and the service in front of them, with one app and two API keys. All of it listens on loopback addresses only.
 *
 * @returns The running service. Its nodes end with this process, however this process ends.
 * @throws {CliError} where a port, a folder or a node cannot be had. Whatever was started is stopped then.
 * @example
 * const service = await startDev({ data: './chains' })
 * console.log(service.description.url)
 * await service.stop()
 */
export async function startDev(options: DevOptions = {}): Promise<DevService> {
  const folder = openDevFolder(options.data)
  // Also where the process ends without a stop: a second Ctrl-C, an error that nobody caught. Saved chains are picked up by the next start.
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
    const end = async ({ ended }: RunningNode, network: Network): Promise<string> => {
      const how = await ended
      // A node that ends because it was told to is not broken.
      if (stopping) return new Promise<never>(() => undefined)
      return `the ${network} node ended by itself (${how})`
    }
    const keyOf = (network: Network): { apiKey: string; address: string } => {
      const { apiKey } = state.keys[network]
      return { apiKey, address: apiKeyAddress(url, network, apiKey) }
    }
    return {
      description: {
        url,
        dashboard: url,
        account: state.account,
        app: {
          ...state.app,
          addresses: {
            testnet: appAddress(url, 'testnet', state.app.apiKey),
            mainnet: appAddress(url, 'mainnet', state.app.apiKey),
          },
        },
        keys: { testnet: keyOf('testnet'), mainnet: keyOf('mainnet') },
        nodes: { testnet: testnet.url, mainnet: mainnet.url },
      },
      port,
      folder,
      broken: Promise.race([end(testnet, 'testnet'), end(mainnet, 'mainnet')]),
      stop: () => (stopping ??= stopAll()),
    }
  } catch (error) {
    await service?.close({ graceMs: 0 })
    await Promise.all([nodes?.testnet.stop(), nodes?.mainnet.stop()])
    release()
    throw error
  }
}
