import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// Builds the pages of the dashboard if they are missing or their sources have changed. `npm start` runs the service from source, but a browser
// needs built pages.

const top = join(import.meta.dirname, '..')
const dashboard = join(top, 'packages/dashboard')
const stamp = join(top, 'node_modules/.cache/keyrail-pages.sha256')

const sources = [
  'pnpm-lock.yaml',
  'packages/dashboard/index.html',
  ...globSync(['packages/dashboard/*.ts', 'packages/dashboard/{src,public}/**/*.*', 'packages/snippets/src/**/*.ts'], {
    cwd: top,
  }).sort(),
].filter((file) => !file.endsWith('.test.ts'))
const hash = createHash('sha256')
for (const file of sources) hash.update(file).update(readFileSync(join(top, file)))
const sourceHash = hash.digest('hex')

const isBuilt = (): boolean =>
  existsSync(join(dashboard, 'dist/index.html')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash

if (!isBuilt()) {
  process.stderr.write('Building the pages of the dashboard. This takes up to half a minute, once.\n')
  try {
    // Standard output is the service's: `npm start -- --json` prints one line.
    const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js')
    execFileSync(process.execPath, [vite, 'build', '--logLevel', 'error'], {
      cwd: dashboard,
      // A test runner sets NODE_ENV to test, which would bundle the development build of React.
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 2, 2],
    })
    mkdirSync(dirname(stamp), { recursive: true })
    writeFileSync(stamp, sourceHash)
  } catch {
    process.stderr.write('The pages of the dashboard could not be built; the service runs without them.\n')
  }
}
