import type { IncomingMessage, ServerResponse } from 'node:http'
import { createClientIp, mayBeProxy } from '../lib/ip/clientIp.ts'
import { updateServer } from '../proxy/http/createBoundedServer.ts'
import { getRequestId } from '../proxy/http/getRequestId.ts'
import { listenOn, stopListening } from '../proxy/http/listenOn.ts'
import { createProxyWarning } from '../proxy/http/proxyWarning.ts'
import { createControlServer } from './createControlServer.ts'
import { toUrls } from './fromConfig.ts'
import type { readTls } from './readTls.ts'
import type { RunningConfig } from './runningConfig.ts'
import type { ServiceLogEntry } from './serviceLog.ts'
import { createSite } from './site.ts'
import type { ControlHandler, Site } from './site.ts'

/** Serves the control API and the dashboard: with `control` in the config on a port of their own, otherwise on the port of the networks. */
export interface SiteHost {
  /** Handles a request to the port of the networks that is none for a network. @returns Whether it was one for the site. */
  readonly handle: Site
  /**
   * Starts to serve.
   * @param url - Where the networks are served.
   * @returns The URL of the site.
   */
  listen(url: string): Promise<string>
  /**
   * Prepares another config.
   * @returns Applies it.
   * @throws {ConfigError} if its pages cannot be served.
   */
  prepare(next: RunningConfig, tls: ReturnType<typeof readTls>): () => void
  /** @param graceMs - After this, requests that are still in flight are cut off, in milliseconds. */
  close(graceMs: number): Promise<void>
}

/** Creates the host of the site. It serves nothing before `listen`. */
export const createSiteHost = (options: {
  readonly control: ControlHandler
  /** Called for each request. */
  readonly config: () => RunningConfig
  readonly tls: ReturnType<typeof readTls>
  /** Whether the service is about to stop. Connections are then closed after each response. */
  readonly isClosing: () => boolean
  readonly log: (entry: ServiceLogEntry) => void
}): SiteHost => {
  const { control, config, log } = options
  let networksUrl: string | undefined
  let site: Site | undefined

  const create = (next: RunningConfig, url: string): Site => {
    const urls = toUrls(next, url)
    return createSite({
      publicUrl: urls.site,
      networksUrl: urls.networks,
      control,
      folder: next.dashboard?.folder,
      clientIp: createClientIp(next.trustedProxies),
      log,
    })
  }

  const warnAboutProxy = createProxyWarning({ warn: (what) => log({ event: 'warning', what }) })
  const handleOnOwnPort = (request: IncomingMessage, response: ServerResponse): void => {
    const clientIp = createClientIp(config().trustedProxies)
    warnAboutProxy(request, clientIp)
    const isHandled = site !== undefined && site(request, response, getRequestId(clientIp, request))
    if (!isHandled) response.writeHead(404, { 'Content-Length': 0 }).end()
  }
  const server =
    config().control === undefined
      ? undefined
      : createControlServer({
          bounds: config().bounds,
          tls: options.tls,
          isClosing: options.isClosing,
          isProxy: (ip) => mayBeProxy(createClientIp(config().trustedProxies), ip),
          handle: handleOnOwnPort,
        })

  return {
    handle: (request, response, requestId) =>
      server === undefined && site !== undefined && site(request, response, requestId),
    listen: async (url) => {
      networksUrl = url
      const own = config().control
      if (server !== undefined && own !== undefined) {
        const port = await listenOn(server, own.listen)
        log({ event: 'controlListening', port, url: own.publicUrl })
      }
      site = create(config(), url)
      return own?.publicUrl ?? url
    },
    prepare: (next, tls) => {
      const nextSite = networksUrl === undefined ? undefined : create(next, networksUrl)
      return () => {
        site = nextSite
        if (server !== undefined) updateServer(server, { bounds: next.bounds, tls })
      }
    },
    close: async (graceMs) => {
      if (server !== undefined) await stopListening(server, graceMs)
    },
  }
}
