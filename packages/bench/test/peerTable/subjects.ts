import type { Subject, Target } from '@keyrail/core/test/adapterVectors.ts'
import { createEthersSubject } from '@keyrail/core/test/createEthersSubject.ts'
import { createRequestSubject } from '@keyrail/core/test/createTestClient.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { createViemSubject } from '@keyrail/core/test/createViemSubject.ts'
import { createWeb3Subject } from '@keyrail/core/test/createWeb3Subject.ts'
import { KeyrailProvider as KeyrailEthers } from '@keyrail/ethers'
import * as fetchClient from '@keyrail/fetch'
import { keyrail } from '@keyrail/viem'
import { KeyrailProvider as KeyrailWeb3 } from '@keyrail/web3'
import { FetchRequest, JsonRpcProvider } from 'ethers'
import { http, keccak256 } from 'viem'
import { Web3 } from 'web3'

/** A column of the table. */
export interface Column {
  readonly subject: Subject
  readonly isOurs: boolean
  /** The code that creates it. */
  readonly made: string
}

const getUrl = ({ origin, key }: Target): string => `${origin}/v2/${key}`

const ourFetch = createRequestSubject<fetchClient.Client>(
  '@keyrail/fetch',
  (target) =>
    fetchClient.createClient({
      ...targetOptions({ ...target, signal: undefined }),
      safeWrites: fetchClient.safeWrites({ keccak256 }),
    }),
  fetchClient,
)

const ourViem = createViemSubject('@keyrail/viem', (target) => ({
  transport: keyrail(targetOptions({ ...target, signal: undefined })),
}))

const ourEthers = createEthersSubject('@keyrail/ethers', (target) => ({
  provider: new KeyrailEthers(targetOptions(target)),
  aborts: true,
}))

const ourWeb3 = createWeb3Subject('@keyrail/web3', (target) => {
  const provider = new KeyrailWeb3(targetOptions(target))
  return { provider, aborts: true, close: provider.disconnect }
})

const viemHttp = createViemSubject('viem http', (target) => ({
  transport: http(getUrl(target), {
    ...(target.batch ? { batch: true } : {}),
    ...(target.timeoutMs === undefined ? {} : { timeout: target.timeoutMs }),
  }),
}))

const ethersJsonRpc = createEthersSubject('ethers JsonRpcProvider', (target) => {
  const request = new FetchRequest(getUrl(target))
  if (target.timeoutMs !== undefined) request.timeout = target.timeoutMs
  const provider = target.chainId
    ? new JsonRpcProvider(request, target.chainId, { staticNetwork: true })
    : new JsonRpcProvider(request)
  return { provider }
})

const web3Http = createWeb3Subject('web3 HttpProvider', (target) => ({
  provider: new Web3.providers.HttpProvider(
    getUrl(target),
    // The types of web3 allow the options of every provider for each.
    (target.signal ? { providerOptions: { signal: target.signal } } : {}) as never,
  ),
  aborts: true,
}))

/** The columns, each adapter before the library's own provider. */
export const columns: readonly Column[] = [
  { subject: ourFetch, isOurs: true, made: 'createClient({ baseUrl, apiKey, chainId, keccak256 })' },
  { subject: ourViem, isOurs: true, made: 'keyrail({ baseUrl, apiKey, chainId })' },
  { subject: viemHttp, isOurs: false, made: 'http(url)' },
  { subject: ourEthers, isOurs: true, made: 'new KeyrailProvider({ baseUrl, apiKey, chainId })' },
  {
    subject: ethersJsonRpc,
    isOurs: false,
    made: 'new JsonRpcProvider(new FetchRequest(url), 1, { staticNetwork: true })',
  },
  { subject: ourWeb3, isOurs: true, made: 'new KeyrailProvider({ baseUrl, apiKey, chainId })' },
  { subject: web3Http, isOurs: false, made: 'new HttpProvider(url)' },
]
