import { createTransport } from '@keyrail/core'
import { createProxyRoute } from '../../packages/create-keyrail/templates/next/lib/createProxyRoute.ts'

interface Environment {
  readonly KEYRAIL_BASE_URL: string
  readonly KEYRAIL_API_KEY: string
  readonly ORIGIN: string
}

let handle: ReturnType<typeof createProxyRoute> | undefined

const worker = {
  // Created once for all requests, so that they share the connections, reads and limits of one transport.
  fetch: (request: Request, environment: Environment): Promise<Response> => {
    handle ??= createProxyRoute({
      transport: createTransport({ baseUrl: environment.KEYRAIL_BASE_URL, apiKey: environment.KEYRAIL_API_KEY }),
      origins: [environment.ORIGIN],
      methods: ['eth_blockNumber', 'eth_chainId', 'eth_getBalance', 'eth_getBlockByNumber', 'eth_call'],
    })
    return handle(request)
  },
}

// oxlint-disable-next-line import/no-default-export -- Workers require it
export default worker
