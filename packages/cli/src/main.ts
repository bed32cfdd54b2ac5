import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

// An older Node fails on an import with a syntax error, so what it lacks is only imported after this check.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `keyrail: needs Node 24 or later, and this is Node ${process.versions.node}\n  hint: install Node 24, for example from https://nodejs.org\n`,
  )
  process.exit(2)
}

// From source, Node strips the types of hundreds of files at each start. The cache only covers modules that load after this call, so
// everything else is imported below it.
if (import.meta.url.endsWith('.ts')) {
  nodeModule.enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/keyrail', import.meta.url)))
}

// Process lists show arguments to every user on some systems, and an argument can be a URL with a key.
process.title = 'keyrail'

const { runMain } = await import('./runMain.ts')
process.exit(await runMain(process.argv.slice(2)))
