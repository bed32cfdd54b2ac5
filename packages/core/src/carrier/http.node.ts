import * as http from 'node:http'
import * as https from 'node:https'
import { gunzip } from 'node:zlib'
import type { Carrier, CarrierOptions, Fault, Target } from './carrier.ts'
import { createCarrier as createFetchCarrier } from './http.fetch.ts'

interface NodeTarget {
  readonly request: typeof http.request
  readonly options: http.RequestOptions
}

/** Shorter than the idle time of common servers and balancers (5 s and more), so that their close rarely meets our next request. */
const IDLE_MS = 4_000

/** How many bytes a kept-alive socket had received when its last answer ended. */
const bytesReadBefore: WeakMap<object, number> = new WeakMap()

const faultOf = (error: NodeJS.ErrnoException, request: http.ClientRequest): Fault => {
  const { code = '', syscall, message } = error
  const { socket } = request
  return {
    kind: 'network',
    text: message || code,
    unsent: syscall === 'connect' || syscall === 'getaddrinfo' || /CERT|SIGNED|SSL|TLS/.test(code),
    stale: request.reusedSocket && !!socket && bytesReadBefore.get(socket) === socket.bytesRead,
  }
}

/** Carries by `node:http` over kept-alive connections: a third to a half of the cost of the global `fetch`. */
export function createCarrier(options: CarrierOptions): Carrier {
  if (options.fetch) return createFetchCarrier(options)
  const { maxResponseBytes } = options
  const agents: (http.Agent | https.Agent)[] = []
  const agentFor = (secure: boolean): http.Agent => {
    if (options.agent) return options.agent as http.Agent
    const agent = new (secure ? https.Agent : http.Agent)({ keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' })
    agents.push(agent)
    return agent
  }
  const agentOf = { 'http:': undefined, 'https:': undefined } as Record<string, http.Agent | undefined>

  const prepare = ({ url, headers }: Target): NodeTarget => {
    const { protocol, hostname, port, pathname, search } = new URL(url)
    const secure = protocol === 'https:'
    return {
      request: secure ? https.request : http.request,
      options: {
        protocol,
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port,
        path: pathname + search,
        method: 'POST',
        headers: { ...headers, 'accept-encoding': 'gzip' },
        agent: (agentOf[protocol] ??= agentFor(secure)),
      },
    }
  }
  let prepared: NodeTarget
  let preparedFor: Target | undefined

  return {
    send: (target, body, done) => {
      let over = false
      let ended = false
      const finish: typeof done = (...outcome) => {
        if (over) return
        over = true
        done(...outcome)
      }
      if (target !== preparedFor) {
        preparedFor = target
        prepared = prepare(target)
      }
      const { request, options } = prepared
      let sent: http.ClientRequest
      try {
        sent = request(options)
      } catch (error) {
        // An Agent of the wrong protocol, for example.
        queueMicrotask(() => finish({ kind: 'network', text: (error as Error).message, unsent: true }))
        return () => {
          over = true
        }
      }
      const refuse = (text: string, final = false): void => {
        finish({ kind: 'badResponse', text, final })
        sent.destroy()
      }
      const tooLarge = (): void => refuse(`the answer is larger than maxResponseBytes (${maxResponseBytes})`, true)
      sent.on('error', (error) => finish(faultOf(error, sent)))
      // Some ends come without an error, such as an unasked 101.
      sent.on('close', () => ended || finish({ kind: 'network', text: 'the connection closed without an answer' }))
      sent.on('response', (response) => {
        const { headers, socket, statusCode: status = 0 } = response
        const encoding = headers['content-encoding']
        if (Number(headers['content-length']) > maxResponseBytes) return tooLarge()
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > maxResponseBytes) return tooLarge()
          chunks.push(chunk)
        })
        response.on('error', () =>
          finish({ kind: 'network', text: 'the connection broke in the middle of the answer' }),
        )
        response.on('end', () => {
          ended = true
          bytesReadBefore.set(socket, socket.bytesRead)
          const answer = (text: string): void =>
            finish(undefined, { status, text, header: (name) => headers[name] as string | undefined })
          const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes)
          if (!encoding || encoding === 'identity') return answer(whole.toString())
          if (encoding !== 'gzip') return refuse(`the answer is encoded as '${encoding}', which was not asked for`)
          gunzip(whole, { maxOutputLength: maxResponseBytes }, (error: NodeJS.ErrnoException | null, plain) => {
            if (!error) answer(plain.toString())
            else if (error.code === 'ERR_BUFFER_TOO_LARGE') tooLarge()
            else refuse('the answer is broken gzip')
          })
        })
      })
      sent.end(body)
      return () => {
        over = true
        sent.destroy()
      }
    },
    close: () => {
      for (const agent of agents) agent.destroy()
    },
  }
}
