import { budget, createTransport } from '@keyrail/core'
import { createProxyRoute } from '../../lib/createProxyRoute'

let handle: ((request: Request) => Promise<Response>) | undefined

/** Created with the first request, so that a build needs no key. */
const createHandle = (): ((request: Request) => Promise<Response>) => {
  const { KEYRAIL_BASE_URL = '', KEYRAIL_API_KEY = '', KEYRAIL_CHAIN_ID, ORIGINS } = process.env
  return createProxyRoute({
    transport: createTransport({
      baseUrl: KEYRAIL_BASE_URL,
      apiKey: KEYRAIL_API_KEY,
      chainId: Number(KEYRAIL_CHAIN_ID),
      budget: budget({ requestsPerSecond: 20 }),
    }),
    origins: (ORIGINS ?? 'http://localhost:3000').split(','),
    methods: ['eth_blockNumber', 'eth_chainId', 'eth_call'],
  })
}

export const POST = (request: Request): Promise<Response> => (handle ??= createHandle())(request)
