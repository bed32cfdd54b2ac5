import { Worker } from 'node:worker_threads'
import { createTransport } from '@keyrail/core'
import { afterAll, beforeAll, expect, test } from 'vitest'

// In its own thread, because it must send faster than this one reads.
const server = `
const { createServer } = require('node:net')
const { parentPort } = require('node:worker_threads')
const head = 'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n'
const toTinyChunks = (text) => [...text].map((one) => '1\\r\\n' + one + '\\r\\n').join('')
createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', (request) => {
    const id = /"id":(\\d+)/.exec(request)[1]
    const blanks = Buffer.from(toTinyChunks(' '.repeat(1_000)))
    let left = 600
    socket.write(head)
    const more = () => {
      while (left-- > 0) if (!socket.write(blanks)) return socket.once('drain', more)
      socket.end(toTinyChunks('{"jsonrpc":"2.0","id":' + id + ',"result":"0x1é"}').replace(/1(\\r\\né)/, '2$1') + '0\\r\\n\\r\\n')
    }
    more()
  })
}).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port) })
`

let worker: Worker
let port: number
beforeAll(async () => {
  worker = new Worker(server, { eval: true })
  port = await new Promise<number>((resolve) => worker.once('message', resolve))
})
afterAll(() => worker.terminate())

test('a response of one-byte chunks is read completely, and its chunks are merged while they arrive', async () => {
  const transport = createTransport({ url: `http://127.0.0.1:${port}` })
  const concat = Buffer.concat.bind(Buffer)
  let most = 0
  Buffer.concat = (parts, bytes) => {
    most = Math.max(most, parts.length)
    return concat(parts, bytes)
  }
  try {
    expect(await transport.request({ method: 'eth_chainId' })).toBe('0x1é')
  } finally {
    Buffer.concat = concat
    transport.close()
  }
  expect(most).toBeGreaterThan(600)
  expect(most).toBeLessThan(2_000)
})
