import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A proxy between a program and the service. It can lose transactions or their responses. */
export interface LossyService {
  readonly url: string
  /** What it loses of each transaction: nothing, the call, or only the response. */
  loses: 'nothing' | 'call' | 'response'
  /** The raw transactions it received. */
  readonly transactions: string[]
  readonly stop: () => void
}

/** Starts a proxy for a URL. It can lose transactions. */
export async function startLossyService(targetUrl: string): Promise<LossyService> {
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request)
    const isTransaction = body.includes('eth_sendRawTransaction')
    if (isTransaction) lossy.transactions.push((JSON.parse(body) as { params: [string] }).params[0])
    if (isTransaction && lossy.loses === 'call') return void request.socket.destroy()
    const forwarded = await fetch(targetUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const responseText = await forwarded.text()
    if (isTransaction && lossy.loses === 'response') return void request.socket.destroy()
    response.writeHead(forwarded.status, { 'content-type': 'application/json' }).end(responseText)
  }
  const server = createServer((request, response) => {
    // The target may stop while it handles a call.
    forward(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const lossy: LossyService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loses: 'nothing',
    transactions: [],
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return lossy
}
