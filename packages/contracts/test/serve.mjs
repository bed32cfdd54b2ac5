// For tests in another language: starts an anvil and the gateway in front of it, prints where they are, and stops when its input ends.
import { createInterface } from 'node:readline'
import { startService } from './startService.ts'
import { startLookupGateway } from './startLookupGateway.ts'

const tell = (value) => process.stdout.write(JSON.stringify(value) + '\n')

const service = await startService()
const lookup = await startLookupGateway(`0x${'a1'.repeat(40)}`)
const accounts = await service.node('eth_accounts')
const { app, key, nodeUrl, chainId } = service
tell({ app, key, accounts, urlOfGet: lookup.urlOfGet, nodeUrl, chainId })

// One line in, one line out: a method for the node itself.
for await (const line of createInterface({ input: process.stdin })) {
  const { method, params } = JSON.parse(line)
  const told = method === 'methods' ? service.methods.splice(0) : await service.node(method, params)
  tell({ result: told })
}
await Promise.all([service.stop(), lookup.close()])
process.exit(0)
