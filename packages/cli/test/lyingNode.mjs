#!/usr/bin/env node
// An anvil that says another block hash to the service than to whoever asks it directly: stands in for a service that answers wrongly.
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
  const answer = async (request, response) => {
    const chunks = []
    for await (const part of request) chunks.push(part)
    const body = Buffer.concat(chunks).toString()
    // The node listens on a port that fetch does not connect to.
    let text = await new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' }
      const sent = httpRequest(`http://${node}`, { method: 'POST', headers }, (answer) => {
        const parts = []
        answer.on('data', (part) => parts.push(part))
        answer.once('error', reject)
        answer.once('end', () => resolve(Buffer.concat(parts).toString()))
      })
      sent.on('error', reject)
      sent.end(body)
    })
    // The platform's own fetch names itself so; it is what asks the node directly.
    const direct = request.headers['user-agent'] === 'node'
    if (!direct && body.includes('eth_getBlockByNumber')) text = text.replace(/"hash":"0x..../, '"hash":"0xdead')
    response.setHeader('content-type', 'application/json')
    response.end(text)
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1', () => process.stdout.write(`Listening on 127.0.0.1:${server.address().port}\n`))
})
