import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A started resource, in the process that owns it. */
export interface StartedResource {
  /** Called for each borrower. @returns What it needs to use the resource, such as a URL. */
  readonly lend: () => string | Promise<string>
  readonly stop: () => void | Promise<void>
}

/** A resource that all test files of a run share. */
export interface SharedResource {
  /** A Vitest `globalSetup`. Nothing starts until a test borrows. */
  readonly setup: () => Promise<() => Promise<void>>
  /**
   * Starts the resource if this is its first borrower.
   * @throws If it cannot be started, or outside of a test run that sets it up.
   */
  readonly borrow: () => Promise<string>
  /** Whether this process is part of a test run that sets the resource up. */
  readonly isSetUp: () => boolean
}

/**
 * Shares a resource that is slow to start between all test files of a run. Test files run in processes of their own, so the main process
 * owns the resource and hands it out over HTTP on loopback.
 * @param name - Upper case, unique: it becomes the name of an environment variable.
 * @param start - Starts the resource, once a run.
 */
export function sharedResource(name: string, start: () => Promise<StartedResource>): SharedResource {
  const variable = `KEYRAIL_SHARED_${name}`
  return {
    setup: async () => {
      // Several Vitest projects may set up the same resource. The first one owns it.
      if (process.env[variable] !== undefined) return async () => {}
      let started: Promise<StartedResource> | undefined
      const lend = async (): Promise<string> => (await (started ??= start())).lend()
      const server = createServer((_request, response) => {
        lend().then(
          (lent) => response.end(lent),
          (error: unknown) => response.writeHead(500).end(String(error)),
        )
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      process.env[variable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      return async () => {
        delete process.env[variable]
        server.close()
        server.closeAllConnections()
        await (await started?.catch(() => undefined))?.stop()
      }
    },
    borrow: async () => {
      const url = process.env[variable]
      if (url === undefined) throw new Error(`${variable} is not set: run this test through Vitest`)
      const response = await fetch(url)
      const lent = await response.text()
      if (!response.ok) throw new Error(lent)
      return lent
    },
    isSetUp: () => process.env[variable] !== undefined,
  }
}
