import { createServer } from 'node:http'
import { createFramingCheck } from '../proxy/http/createFramingCheck.ts'
import { listenOn, stopListening } from '../proxy/http/listenOn.ts'

/** Serves metrics to Prometheus. */
export interface MetricsServer {
  /** @throws The error of `listen`. */
  readonly listen: (at: { host: string; port: number }) => Promise<number>
  readonly close: () => Promise<void>
}

/** Whether a Host header, with or without a port, names the loopback interface. */
const isLoopbackName = (host: string | undefined): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host ?? '')

/** Serves `/metrics`. On a loopback interface it also checks the Host header, so that a web page cannot reach it by DNS rebinding. */
export const createMetricsServer = (text: () => Promise<string>): MetricsServer => {
  let isLoopback = false
  const checkFraming = createFramingCheck()
  const server = createServer((request, response) => {
    const framing = checkFraming(request, response)
    if (framing === 'reject') response.writeHead(400, { 'Content-Length': 0 }).end()
    if (framing !== 'accept') return
    if (isLoopback && !isLoopbackName(request.headers.host)) {
      response.writeHead(421, { 'Content-Length': 0 }).end()
      return
    }
    const [path] = (request.url ?? '').split('?', 1)
    if (path !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404).end()
      return
    }
    text().then(
      (body) => response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }).end(body),
      () => response.writeHead(500).end(),
    )
  })
  return {
    listen: (at) => {
      isLoopback = isLoopbackName(at.host.includes(':') ? `[${at.host}]` : at.host)
      return listenOn(server, at)
    },
    close: () => stopListening(server, 0),
  }
}
