#!/usr/bin/env node
// An anvil that returns different block hashes to the service than to direct callers, to simulate a faulty service.
import { spawn } from 'node:child_process'
import { createServer, request as httpRequest } from 'node:http'

const anvil = spawn(process.env.REAL_ANVIL, process.argv.slice(2), { stdio: ['ignore', 'pipe', 'inherit'] })
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => anvil.kill(signal))
process.on('exit', () => anvil.kill('SIGKILL'))
anvil.on('exit', () => process.exit(0))
let printed = ''
anvil.stdout.on('data', (chunk) => {
  if (printed === 'listening') return
  printed += chunk
  const node = /Listening on (\S+)/.exec(printed)?.[1]
  if (!node) return
  printed = 'listening'
  const handle = async (request, response) => {
    const chunks = []
    for await (const part of request) chunks.push(part)
    const body = Buffer.concat(chunks).toString()
    // The node listens on a port that fetch blocks.
    let text = await new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' }
      const sent = httpRequest(`http://${node}`, { method: 'POST', headers }, (incoming) => {
        const parts = []
        incoming.on('data', (part) => parts.push(part))
        incoming.once('error', reject)
        incoming.once('end', () => resolve(Buffer.concat(parts).toString()))
      })
      sent.on('error', reject)
      sent.end(body)
    })
    // Direct callers use the platform's fetch, which sends this user agent.
    const direct = request.headers['user-agent'] === 'node'
    if (!direct && body.includes('eth_getBlockByNumber')) text = text.replace(/"hash":"0x..../, '"hash":"0xdead')
    response.setHeader('content-type', 'application/json')
    response.end(text)
  }
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1', () => process.stdout.write(`Listening on 127.0.0.1:${server.address().port}\n`))
})
