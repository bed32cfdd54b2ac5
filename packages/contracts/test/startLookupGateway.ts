import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A gateway as EIP-3668 has it, that answers as it is told. */
export interface LookupGateway {
  /** Asked by GET. */
  readonly urlOfGet: string
  /** Asked by POST. */
  readonly urlOfPost: string
  /** What it was asked. */
  readonly seen: { readonly method: string; readonly sender: string; readonly data: string }[]
  /** What it answers; may be replaced at any time. */
  answer: string
  readonly close: () => Promise<void>
}

/** Starts one on a free port. */
export async function startLookupGateway(answer: string): Promise<LookupGateway> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const [, sender, data] = /^\/(0x[\da-f]+)\/(0x[\da-f]+)\.json$/i.exec(request.url ?? '') ?? []
      const asked =
        request.method === 'POST'
          ? (JSON.parse(Buffer.concat(chunks).toString()) as { sender: string; data: string })
          : { sender: sender ?? '', data: data ?? '' }
      lookup.seen.push({
        method: request.method ?? '',
        sender: asked.sender.toLowerCase(),
        data: asked.data.toLowerCase(),
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
