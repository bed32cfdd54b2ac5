import { budget, createTransport, stats } from '@keyrail/core'
import { KeyrailProvider } from '@keyrail/ethers'
import { keyrail } from '@keyrail/viem'
import { createPublicClient } from 'viem'
import { address } from '../address.ts'

// One budget, one set of connections, one view of what is wrong, for both.
const transport = createTransport({ ...address(), budget: budget({ requestsPerSecond: 25 }), stats: stats() })
const viem = createPublicClient({ transport: keyrail(transport) })
const ethers = new KeyrailProvider(transport)
await ethers.getNetwork()

// The same read at the same time is one request, whoever asks.
const [byViem, byEthers] = await Promise.all([viem.getBlock(), ethers.getBlock('latest')])
console.log(`viem:   block ${byViem.number} is ${byViem.hash}`)
console.log(`ethers: block ${byEthers?.number} is ${byEthers?.hash}`)
const { calls, joined, requests } = transport.stats()
console.log(`${calls} calls, ${joined} of them joined another, in ${requests} requests`)

// A provider leaves a transport open that it was given.
ethers.destroy()
transport.close()
