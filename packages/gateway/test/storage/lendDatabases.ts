import { sharedResource } from '@keyrail/core/test/sharedResource.ts'
import { startPostgres } from './startPostgres.ts'

/**
 * One PostgreSQL server for all test files, because creating one takes seconds of CPU. Each test file gets its own empty databases. A test that
 * stops the server or cuts its connections starts its own server.
 */
const postgres = sharedResource('POSTGRES', async () => {
  const server = await startPostgres()
  return { lend: server.createDatabase, stop: server.stop }
})

export const setup = postgres.setup

/** @returns The URL of an empty database, including the password. */
export const borrowDatabase = postgres.borrow
