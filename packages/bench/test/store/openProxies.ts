import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getApiKeyUrl } from '@keyrail/gateway'
import { openMeasuredStore } from '@keyrail/gateway/test/chainStore/openFuzzedStores.ts'
import { getFreePort } from '@keyrail/gateway/test/getFreePort.ts'
import { chainIds, startGateway } from '@keyrail/gateway/test/startGateway.ts'
import type { OpenProxy } from './measuredProxy.ts'

/** Gets the function that starts a gateway with a chain store. */
export const toKeyrail =
  (file: string): OpenProxy =>
  async (nodes) => {
    const chainStore = await openMeasuredStore(file, 1e11)
    const { gateway, url, testnetKey } = await startGateway({ testnet: nodes.map((node) => node.url) }, { chainStore })
    const countUnconfirmed = async (): Promise<number> =>
      (await chainStore.getStats()).chains.reduce((sum, { unconfirmed }) => sum + unconfirmed, 0)
    // Until the chain is verified.
    await sleep(2_000)
    return {
      rpcUrl: getApiKeyUrl(url, 'testnet', testnetKey),
      // What is above the final block is never stored, so the count ends at 0.
      finishSync: async () => {
        while ((await countUnconfirmed()) > 0) await sleep(500)
      },
      close: async () => {
        await gateway.close({ graceMs: 0 })
        await chainStore.close()
      },
    }
  }

/** The config of eRPC: everything that it caches is in its memory, and what is final for ever. Its own defaults for the rest. */
const createErpcConfig = (port: number, urls: readonly string[]): object => ({
  logLevel: 'error',
  server: { listenV4: true, httpHostV4: '127.0.0.1', httpPortV4: port, listenV6: false },
  metrics: { enabled: false },
  database: {
    evmJsonRpcCache: {
      connectors: [{ id: 'memory', driver: 'memory', memory: { maxItems: 1_000_000, maxTotalSize: '4GB' } }],
      policies: [
        { network: '*', method: '*', finality: 'realtime', empty: 'allow', connector: 'memory', ttl: '2s' },
        { network: '*', method: '*', finality: 'unfinalized', empty: 'allow', connector: 'memory', ttl: '10s' },
        { network: '*', method: '*', finality: 'finalized', empty: 'allow', connector: 'memory', ttl: 0 },
      ],
    },
  },
  projects: [
    {
      id: 'main',
      networks: [{ architecture: 'evm', evm: { chainId: chainIds.testnet } }],
      upstreams: urls.map((endpoint, at) => ({
        id: `node-${at}`,
        type: 'evm',
        endpoint,
        evm: { chainId: chainIds.testnet, statePollerInterval: '1s' },
      })),
    },
  ],
})

/** How long eRPC gets to read the heads of the nodes. */
const startUpMs = 15_000

/** Gets the function that starts eRPC. @param binary - The path of its program. */
export const toErpc =
  (binary: string): OpenProxy =>
  async (nodes) => {
    const port = await getFreePort()
    const folder = mkdtempSync(join(tmpdir(), 'keyrail-erpc-'))
    const config = join(folder, 'erpc.yaml')
    const urls = nodes.map(({ url }) => url)
    // JSON is YAML.
    writeFileSync(config, JSON.stringify(createErpcConfig(port, urls)))
    const child = spawn(binary, ['--config', config], { stdio: ['ignore', 'ignore', 'inherit'], cwd: folder })
    await sleep(startUpMs)
    return {
      rpcUrl: `http://127.0.0.1:${port}/main/evm/${chainIds.testnet}`,
      finishSync: () => sleep(1_000),
      close: async () => {
        child.kill()
        await once(child, 'exit')
        rmSync(folder, { recursive: true, force: true })
      },
    }
  }
