import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js')

/** Builds the pages as they are shipped, into a folder. */
export async function buildPages(folder: string): Promise<void> {
  await promisify(execFile)(
    process.execPath,
    [vite, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'error'],
    // A test runner says it is testing, and then another React is built than the one that is shipped.
    { cwd: join(import.meta.dirname, '..'), env: { ...process.env, NODE_ENV: 'production' } },
  )
}
