import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A gateway as defined in EIP-3668, with a fixed response. */
export interface LookupGateway {
  /** The URL for GET. */
  readonly urlOfGet: string
  /** The URL for POST. */
  readonly urlOfPost: string
  /** The received requests. */
  readonly seen: { readonly method: string; readonly sender: string; readonly data: string }[]
  /** The data of its responses; can be changed at any time. */
  answer: string
  readonly close: () => Promise<void>
}

/** Starts a gateway on a free port. */
export async function startLookupGateway(answer: string): Promise<LookupGateway> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const [, sender, data] = /^\/(0x[\da-f]+)\/(0x[\da-f]+)\.json$/i.exec(request.url ?? '') ?? []
      const received =
        request.method === 'POST'
          ? (JSON.parse(Buffer.concat(chunks).toString()) as { sender: string; data: string })
          : { sender: sender ?? '', data: data ?? '' }
      lookup.seen.push({
        method: request.method ?? '',
        sender: received.sender.toLowerCase(),
        data: received.data.toLowerCase(),
      })
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: lookup.answer }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const lookup: LookupGateway = {
    urlOfGet: `${url}/{sender}/{data}.json`,
    urlOfPost: `${url}/lookup`,
    seen: [],
    answer,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return lookup
}
