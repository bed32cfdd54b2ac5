import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { runMain } from './runMain.ts'

// From source there are hundreds of files to take the types out of: half of what a start costs, and needed once.
if (import.meta.url.endsWith('.ts')) {
  enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/keyrail', import.meta.url)))
}

// Some systems show every process's arguments to everybody, and an argument can be an address.
process.title = 'keyrail'

process.exit(await runMain(process.argv.slice(2)))
