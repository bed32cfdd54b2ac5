import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { startTarget } from './startTarget.ts'

// Run by measureFigures, or by hand: `node packages/bench/src/gateway/slowReaders.ts 1`. Requests 32 responses of 4 MB at once, half of
// them from callers that read 100 kB a second, and prints how much the memory of the service grew, in MB.

const callers = 32
const responseBytes = 4_000_000
const slowBytesPerTurn = 10_000
const turnMs = 100
const sampleMs = 100

/** Sends a call and reads its whole response, at full speed or slowly. @returns The number of bytes. */
async function readResponse(
  url: URL,
  path: string,
  { id, slow }: { readonly id: number; readonly slow: boolean },
): Promise<number> {
  const body = `{"jsonrpc":"2.0","id":${id},"method":"eth_getBalance","params":["0x${id.toString(16).padStart(40, '0')}","latest"]}`
  const socket = connect({ port: Number(url.port), host: url.hostname })
  let bytes = 0
  let over = false
  socket.on('close', () => (over = true))
  socket.on('error', () => {})
  const headers = `Host: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  socket.write(`POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${body}`)
  if (slow) {
    socket.on('end', () => socket.destroy())
    while (!over) {
      const chunk = socket.read(slowBytesPerTurn) as Buffer | null
      bytes += (chunk ?? (socket.read() as Buffer | null))?.length ?? 0
      await wait(turnMs)
    }
  } else {
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
    await once(socket, 'close')
  }
  return bytes
}

async function measureGrowth(upstream: string): Promise<number> {
  const service = await startTarget('service', upstream)
  try {
    const url = new URL(service.target.url)
    const [path = ''] = service.target.paths['accepted'] ?? []
    // The first large responses allocate code and buffers, which do not count as growth.
    for (let id = 1; id <= 4; id++) await readResponse(url, path, { id, slow: false })
    await wait(500)
    const { rssMb: before } = await service.used()
    let most = before
    let over = false
    const sampled = (async () => {
      while (!over) {
        most = Math.max(most, (await service.used()).rssMb)
        await wait(sampleMs)
      }
    })()
    const read = await Promise.all(
      Array.from({ length: callers }, (_, n) => readResponse(url, path, { id: n + 10, slow: n % 2 === 0 })),
    )
    over = true
    await sampled
    if (read.some((bytes) => bytes < responseBytes)) throw new Error('a response was incomplete')
    return most - before
  } finally {
    service.stop()
  }
}

const [, , rounds = '1'] = process.argv
const node = fork(new URL('largeNode.ts', import.meta.url))
const [upstream] = (await once(node, 'message')) as [string]
try {
  const growth: number[] = []
  for (let round = 0; round < Number(rounds); round++) growth.push(await measureGrowth(upstream))
  process.stdout.write(JSON.stringify({ growth }))
} finally {
  node.disconnect()
}
