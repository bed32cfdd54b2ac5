import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sharedResource } from '@keyrail/core/test/sharedResource.ts'
import { buildPages } from './buildPages.ts'

/** The built pages, for all test files: a build takes seconds of CPU. */
const pages = sharedResource('PAGES', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-pages-'))
  await buildPages(folder)
  return { lend: () => folder, stop: () => rmSync(folder, { recursive: true, force: true }) }
})

export const setup = pages.setup

/**
 * Borrows the built pages, which a test must not change. Outside of a test run, builds them.
 * @param own - Where to build them then.
 * @returns The folder that they are in.
 */
export async function borrowPages(own: string): Promise<string> {
  if (pages.isSetUp()) return pages.borrow()
  await buildPages(own)
  return own
}
