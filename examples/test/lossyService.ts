import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What stands between a program and the service. */
export interface LossyService {
  readonly url: string
  /** What becomes of transactions: passed on, lost on the way there, or taken while the answer is lost. */
  loses: 'nothing' | 'call' | 'answer'
  /** The bodies of the transactions that came. */
  readonly transactions: string[]
  readonly stop: () => void
}

/** Starts a server that passes calls on to an address, and loses some of those that send transactions. */
export async function startLossyService(address: string): Promise<LossyService> {
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request)
    const isTransaction = body.includes('eth_sendRawTransaction')
    if (isTransaction) lossy.transactions.push((JSON.parse(body) as { params: [string] }).params[0])
    if (isTransaction && lossy.loses === 'call') return void request.socket.destroy()
    const answer = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const said = await answer.text()
    if (isTransaction && lossy.loses === 'answer') return void request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(said)
  }
  const server = createServer((request, response) => void pass(request, response))
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
