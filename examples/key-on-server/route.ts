import { budget, createTransport } from '@keyrail/core'
import { address } from '../address.ts'
import { createProxyRoute } from './proxyRoute.ts'

// A route of Next.js, as `app/rpc/route.ts` would hold it.
const answer = createProxyRoute({
  transport: createTransport({ ...address(), budget: budget({ requestsPerSecond: 20 }) }),
  origins: (process.env['ORIGINS'] ?? 'http://localhost:5173').split(','),
  methods: ['eth_blockNumber', 'eth_chainId', 'eth_getBalance', 'eth_getBlockByNumber', 'eth_call'],
})

export { answer as OPTIONS, answer as POST }
