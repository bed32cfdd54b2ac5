import { join } from 'node:path'
import { build } from 'vite'

/** Builds the pages as they are shipped, into a folder. */
export async function buildPages(folder: string): Promise<void> {
  // A test runner says it is testing, and then another React is built than the one that is shipped.
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = 'production'
  try {
    await build({
      root: join(import.meta.dirname, '..'),
      configFile: join(import.meta.dirname, '../vite.config.ts'),
      build: { outDir: folder, emptyOutDir: true },
      logLevel: 'error',
    })
  } finally {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  }
}
