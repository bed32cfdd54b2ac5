import { budget, createTransport, stats } from '@keyrail/core'
import { KeyrailProvider } from '@keyrail/ethers'
import { keyrail } from '@keyrail/viem'
import { createPublicClient } from 'viem'
import { getEndpoint } from '../endpoint.ts'

// Both libraries share one budget, one set of connections and one health state.
const transport = createTransport({ ...getEndpoint(), budget: budget({ requestsPerSecond: 25 }), stats: stats() })
const viem = createPublicClient({ transport: keyrail(transport) })
const ethers = new KeyrailProvider(transport)
await ethers.getNetwork()

// Identical reads at the same time share one request, even from different libraries.
const [viemBlock, ethersBlock] = await Promise.all([viem.getBlock(), ethers.getBlock('latest')])
console.log(`viem:   block ${viemBlock.number} is ${viemBlock.hash}`)
console.log(`ethers: block ${ethersBlock?.number} is ${ethersBlock?.hash}`)
const { calls, joined, requests } = transport.stats()
console.log(`${calls} calls, ${joined} of them shared, in ${requests} requests`)

// Destroying the provider does not close the transport.
ethers.destroy()
transport.close()
