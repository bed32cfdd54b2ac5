import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPages } from './buildPages.ts'

/** The variable that says where built pages are lent. */
const lenderName = 'KEYRAIL_TEST_PAGES'

/** Lends the built pages to all test files of a run, built when the first one asks: to build them takes seconds of a processor. */
export async function setup(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-pages-'))
  let built: Promise<void> | undefined
  const lender = createServer((_request, response) => {
    built ??= buildPages(folder)
    built.then(
      () => response.end(folder),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  }).listen(0, '127.0.0.1')
  await once(lender, 'listening')
  process.env[lenderName] = `http://127.0.0.1:${(lender.address() as AddressInfo).port}`
  return () => {
    lender.close()
    lender.closeAllConnections()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Borrows the built pages, which nobody may change; where nobody lends them, as outside of a run of tests, builds them.
 * @param own - Where they are built then.
 * @returns The folder that they are in.
 */
export async function borrowPages(own: string): Promise<string> {
  const lender = process.env[lenderName]
  if (lender === undefined) {
    await buildPages(own)
    return own
  }
  const response = await fetch(lender)
  const answer = await response.text()
  if (!response.ok) throw new Error(answer)
  return answer
}
