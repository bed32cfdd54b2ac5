import { connect } from 'node:net'
import type { Socket } from 'node:net'

// A process of its own, as both ends of ten thousand connections are more files than one process may have open. Half of them ask
// something before they are idle. Says 'ready', and when it is told to, how many have been ended by the other side.

const [, , port = '', path = '', count = ''] = process.argv
const body = '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":["idle"]}'
const bytes = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const atOnce = 200
let ended = 0

const open = (asks: boolean): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1' }, () => {
      if (!asks) resolve(socket)
      else {
        socket.once('data', () => resolve(socket))
        socket.write(bytes)
      }
    })
    socket.once('error', reject)
    socket.on('close', () => (ended += 1))
  })

for (let begun = 0; begun < Number(count); begun += atOnce)
  await Promise.all(Array.from({ length: atOnce }, (_, index) => open(index % 2 === 0)))
process.on('message', () => process.send?.({ ended }))
process.on('disconnect', () => process.exit())
process.send?.('ready')
