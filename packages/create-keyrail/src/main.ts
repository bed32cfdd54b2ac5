// An older Node fails on an import with a syntax error, so everything is imported after this check.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `create-keyrail: needs Node 22.18 or later, and this is Node ${process.versions.node}\n  hint: install a newer Node, for example from https://nodejs.org\n`,
  )
  process.exit(1)
}

const { runCreate } = await import('./runCreate.ts')
process.exitCode = await runCreate(process.argv.slice(2), process.env)
