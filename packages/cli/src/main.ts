import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// From source, Node strips the types of hundreds of files at each start. The cache only covers modules that load after this call, so
// everything else is imported below it.
if (import.meta.url.endsWith('.ts')) {
  enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/keyrail', import.meta.url)))
}

// Process lists show arguments to every user on some systems, and an argument can be a URL with a key.
process.title = 'keyrail'

const { runMain } = await import('./runMain.ts')
process.exit(await runMain(process.argv.slice(2)))
