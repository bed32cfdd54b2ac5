import { budget, createTransport } from '@keyrail/core'
import { getEndpoint } from '../endpoint.ts'
import { createProxyRoute } from '../../packages/create-keyrail/templates/next/lib/createProxyRoute.ts'

// A route handler of Next.js: in your app, this is `app/rpc/route.ts`.
const handle = createProxyRoute({
  transport: createTransport({ ...getEndpoint(), budget: budget({ requestsPerSecond: 20 }) }),
  origins: (process.env['ORIGINS'] ?? 'http://localhost:5173').split(','),
  methods: ['eth_blockNumber', 'eth_chainId', 'eth_getBalance', 'eth_getBlockByNumber', 'eth_call'],
})

export { handle as OPTIONS, handle as POST }
