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
 * Gets the folder of the built pages, which tests must not change. Outside of a test run, builds them.
 * @param own - The folder to build them in outside of a test run.
 * @returns The folder of the pages.
 */
export async function borrowPages(own: string): Promise<string> {
  if (pages.isSetUp()) return pages.borrow()
  await buildPages(own)
  return own
}
