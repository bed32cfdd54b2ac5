import { randomBytes } from 'node:crypto'
import type { ServiceConfigInput } from '../../src/service/serviceConfig.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { chainIds } from '../startGateway.ts'
import { getFreePort } from '../getFreePort.ts'
import type { Place, PlaceKind } from './places.ts'
import { startServe, writeConfig } from './serviceProcess.ts'
import type { ServiceProcess } from './serviceProcess.ts'

/** A running service with two nodes. */
export interface TestService {
  readonly place: Place
  readonly nodes: Readonly<Record<'testnet' | 'mainnet', FakeUpstream>>
  readonly configFile: string
  readonly config: ServiceConfigInput
  readonly url: string
  readonly process: ServiceProcess
  /** Changes the config file, which the service then reloads. */
  readonly change: (members: Partial<ServiceConfigInput>) => void
  /** Starts another instance with the same database. */
  readonly startAnother: (members?: Partial<ServiceConfigInput>) => Promise<ServiceProcess>
  /** Stops the service and its nodes. */
  readonly close: () => Promise<{ exitCode: number | null; stderr: string }>
}

/** A secret in the path of the upstreams, where providers put their keys. */
export const nodeSecret = `n0deKey${randomBytes(12).toString('hex')}`

/** Starts `keyrail serve` with two nodes. */
export const startTestService = async (
  { open }: PlaceKind,
  members: Partial<ServiceConfigInput> = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<TestService> => {
  const place = await open()
  const nodes = {
    testnet: await startFakeUpstream(chainIds.testnet, `/v3/${nodeSecret}`),
    mainnet: await startFakeUpstream(chainIds.mainnet, `/v3/${nodeSecret}`),
  }
  const port = await getFreePort()
  let config: ServiceConfigInput = {
    publicUrl: `http://127.0.0.1:${port}`,
    listen: { port },
    signUp: 'open',
    networks: {
      testnet: { chain: 'testland', chainId: chainIds.testnet, upstreams: [{ url: nodes.testnet.url }] },
      mainnet: { chain: 'testland', chainId: chainIds.mainnet, upstreams: [{ url: nodes.mainnet.url }] },
    },
    ...(place.storage === undefined ? {} : { storage: place.storage }),
    ...members,
  }
  const configFile = writeConfig(place.folder, config)
  const all = { ...place.environment, ...environment }
  const service = await startServe(configFile, all)
  const others: ServiceProcess[] = []
  return {
    place: { ...place, environment: all },
    nodes,
    configFile,
    config,
    url: `http://127.0.0.1:${port}`,
    process: service,
    change: (changed) => {
      config = { ...config, ...changed }
      writeConfig(place.folder, config)
    },
    startAnother: async (changed = {}) => {
      const listen = { port: await getFreePort() }
      const file = writeConfig(place.folder, { ...config, listen, ...changed }, `other-${others.length}.json`)
      const other = await startServe(file, all)
      others.push(other)
      return other
    },
    close: async () => {
      for (const other of others) await other.stop()
      const { exitCode, stderr } = await service.stop()
      for (const node of Object.values(nodes)) await node.stop()
      await place.close()
      return { exitCode, stderr }
    },
  }
}
