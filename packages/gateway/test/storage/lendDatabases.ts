import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { startPostgres } from './startPostgres.ts'
import type { Postgres } from './startPostgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a test file asks for an empty database in the PostgreSQL that all files share. */
    readonly databaseLender: string
  }
}

/**
 * Lends databases to all test files of a run from one PostgreSQL, begun by the first that asks: to make a server takes seconds of a processor.
 * Who stops or cuts its server has one of its own.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let postgres: Promise<Postgres> | undefined
  const lender = createServer((_request, response) => {
    void (async () => {
      try {
        response.end(await (await (postgres ??= startPostgres())).createDatabase())
      } catch (error) {
        response.writeHead(500).end(String(error))
      }
    })()
  }).listen(0, '127.0.0.1')
  await once(lender, 'listening')
  project.provide('databaseLender', `http://127.0.0.1:${(lender.address() as AddressInfo).port}`)
  return async () => {
    lender.close()
    lender.closeAllConnections()
    await (await postgres?.catch(() => undefined))?.stop()
  }
}
