// For tests in other languages: starts an anvil and a gateway in front of it, prints their URLs, and stops when its input ends.
import { createInterface } from 'node:readline'
import { startService } from './startService.ts'
import { startLookupGateway } from './startLookupGateway.ts'

const print = (value) => process.stdout.write(JSON.stringify(value) + '\n')

const service = await startService()
const lookup = await startLookupGateway(`0x${'a1'.repeat(40)}`)
const accounts = await service.node('eth_accounts')
const { app, key, nodeUrl, chainId } = service
print({ app, key, accounts, urlOfGet: lookup.urlOfGet, nodeUrl, chainId })

// Each input line is a call to the node itself, and each output line a result.
for await (const line of createInterface({ input: process.stdin })) {
  const { method, params } = JSON.parse(line)
  const result = method === 'methods' ? service.methods.splice(0) : await service.node(method, params)
  print({ result })
}
await Promise.all([service.stop(), lookup.close()])
process.exit(0)
