import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// Runs in a separate process: a node whose results have four megabytes, except for the queries of the service.

const large = Buffer.from(`"0x${'ab'.repeat(2_000_000)}"}`)

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number; method: string }
    response.setHeader('content-type', 'application/json')
    if (method === 'eth_chainId') {
      response.end(`{"jsonrpc":"2.0","id":${id},"result":"0x1"}`)
      return
    }
    const head = `{"jsonrpc":"2.0","id":${id},"result":`
    response.setHeader('content-length', head.length + large.length)
    response.write(head)
    response.end(large)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.on('disconnect', () => process.exit())
