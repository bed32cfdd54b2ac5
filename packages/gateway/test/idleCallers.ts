import { connect } from 'node:net'
import type { Socket } from 'node:net'

// A separate process, because both ends of ten thousand connections are more files than one process can open. Half of them send a call before
// they are idle. Sends 'ready', and on each message how many connections the other side has closed.

const [, , port = '', path = '', count = ''] = process.argv
const body = '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":["idle"]}'
const bytes = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const batchSize = 200
let ended = 0

const open = (sendsCall: boolean): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1' }, () => {
      if (!sendsCall) resolve(socket)
      else {
        socket.once('data', () => resolve(socket))
        socket.write(bytes)
      }
    })
    socket.once('error', reject)
    socket.on('close', () => (ended += 1))
  })

for (let opened = 0; opened < Number(count); opened += batchSize)
  await Promise.all(Array.from({ length: batchSize }, (_, index) => open(index % 2 === 0)))
process.on('message', () => process.send?.({ ended }))
process.on('disconnect', () => process.exit())
process.send?.('ready')
