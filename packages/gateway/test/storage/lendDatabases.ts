import { sharedResource } from '@keyrail/core/test/sharedResource.ts'
import { startPostgres } from './startPostgres.ts'

/**
 * One PostgreSQL server for all test files: to create one takes seconds of CPU. Each borrower gets an empty database of its own. A test that
 * stops the server or cuts its connections starts its own.
 */
const postgres = sharedResource('POSTGRES', async () => {
  const server = await startPostgres()
  return { lend: server.createDatabase, stop: server.stop }
})

export const setup = postgres.setup

/** @returns The URL of an empty database, with the password in it. */
export const borrowDatabase = postgres.borrow
