import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js')

/** Builds the pages into a folder, as they are published. */
export async function buildPages(folder: string): Promise<void> {
  await promisify(execFile)(
    process.execPath,
    [vite, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'error'],
    // The test runner sets NODE_ENV to "test", which would select the development build of React.
    { cwd: join(import.meta.dirname, '..'), env: { ...process.env, NODE_ENV: 'production' } },
  )
}
