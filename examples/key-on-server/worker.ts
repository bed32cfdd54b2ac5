import { createTransport } from '@keyrail/core'
import { createProxyRoute } from './proxyRoute.ts'

interface Environment {
  readonly KEYRAIL_BASE_URL: string
  readonly KEYRAIL_API_KEY: string
  readonly ORIGIN: string
}

let answer: ReturnType<typeof createProxyRoute> | undefined

const worker = {
  // Made once, and for all requests: the transport shares reads and keeps to its budget.
  fetch: (request: Request, environment: Environment): Promise<Response> => {
    answer ??= createProxyRoute({
      transport: createTransport({ baseUrl: environment.KEYRAIL_BASE_URL, apiKey: environment.KEYRAIL_API_KEY }),
      origins: [environment.ORIGIN],
      methods: ['eth_blockNumber', 'eth_chainId', 'eth_getBalance', 'eth_getBlockByNumber', 'eth_call'],
    })
    return answer(request)
  },
}

// oxlint-disable-next-line import/no-default-export -- a Worker is one
export default worker
