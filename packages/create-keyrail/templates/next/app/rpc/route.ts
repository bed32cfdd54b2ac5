import { budget, createTransport } from '@keyrail/core'
import { createProxyRoute } from '../../lib/createProxyRoute'

const names = ['KEYRAIL_BASE_URL', 'KEYRAIL_API_KEY', 'KEYRAIL_CHAIN_ID']

let handle: ((request: Request) => Promise<Response>) | undefined

/** Created with the first request, so that a build needs no key. */
const createHandle = (): ((request: Request) => Promise<Response>) => {
  const { KEYRAIL_BASE_URL = '', KEYRAIL_API_KEY = '', KEYRAIL_CHAIN_ID, ORIGINS = '' } = process.env
  return createProxyRoute({
    transport: createTransport({
      baseUrl: KEYRAIL_BASE_URL,
      apiKey: KEYRAIL_API_KEY,
      chainId: Number(KEYRAIL_CHAIN_ID),
      budget: budget({ requestsPerSecond: 20 }),
    }),
    origins: ORIGINS.split(','),
    methods: ['eth_blockNumber', 'eth_chainId', 'eth_call'],
  })
}

export async function POST(request: Request): Promise<Response> {
  const missing = names.filter((name) => !process.env[name])
  if (missing.length > 0) {
    const message = `Set ${missing.join(', ')} in .env.local, and start the app again`
    return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }, { status: 500 })
  }
  return (handle ??= createHandle())(request)
}
